#include <algorithm>

#include "command.h"
#include "package/zip_reader.h"

namespace dsbuild {
namespace {

// Archives in archives: a wheel in a zip file, and no archive that holds itself.
constexpr int k_deepest_archive = 2;

bool has_ending(const std::string& name, const std::vector<std::string>& endings) {
  return std::any_of(endings.begin(), endings.end(), [&](const std::string& ending) {
    return name.size() > ending.size() && name.ends_with(ending);
  });
}

bool is_binary_name(const std::string& name) {
  return name.find(".so.") != std::string::npos ||
         has_ending(name,
                    {".so", ".o", ".a", ".cubin", ".fatbin", ".ptx", ".hipfb", ".co", ".hsaco", ".spv"});
}

// What is looked at, and what was found: files, folders and archives are walked through, one file at a time.
class Inspection {
 public:
  Inspection(const CommandContext& context, std::vector<Target> gpus)
      : files_(context.system.files), gpus_(std::move(gpus)), with_kernels_(context.line.has("--kernels")) {}

  const std::vector<InspectedFile>& found() const { return found_; }
  const std::vector<Warning>& warnings() const { return warnings_; }

  // A file named by the user is read whatever its name; in folders, files named like binaries and wheels.
  Result<void> add(const Path& path, bool named) {
    const FileKind kind = files_.kind(path);
    if (kind == FileKind::absent)
      return fail(Exit::usage, "no_file", path.string(), "there is no such file",
                  "Give a binary file, a wheel, or a folder of them.");
    if (kind == FileKind::directory) {
      DSBUILD_TRY(names, files_.list(path));
      for (const std::string& name : names)
        DSBUILD_CHECK(add(path / name, false));
      return {};
    }
    const std::string name = path.filename().string();
    if (!named && (kind != FileKind::file || !(is_binary_name(name) || has_ending(name, {".whl"}))))
      return {};
    DSBUILD_TRY(file, files_.open(path));
    return add_bytes(*file, path.string(), named, 0);
  }

 private:
  Result<void> add_bytes(const ByteSource& file, const std::string& name, bool named, int depth) {
    DSBUILD_TRY(start, ByteRange(file).read(0, 4));
    if (is_zip(as_bytes_of(start)) && depth < k_deepest_archive) return add_members(file, name, depth);
    auto code = read_device_code(file, name);
    // Files that are called as binaries are not all such: linker scripts, code of other compilers.
    if (!code && !named && code.error().code == "bad_elf") {
      warnings_.push_back({code.error()});
      return {};
    }
    if (!code) return tl::unexpected<Error>(code.error());
    found_.push_back({name, std::move(*code), gpus_, std::nullopt, file.size()});
    if (!with_kernels_) return {};
    KernelTable& kernels = found_.back().kernels.emplace();
    return visit_kernels(file, name, [&](const ImageKernels& image) { kernels.add(image); });
  }

  Result<void> add_members(const ByteSource& archive, const std::string& name, int depth) {
    DSBUILD_TRY(members, zip_members(archive, name));
    for (const ZipMember& member : members) {
      if (!is_binary_name(member.path) && !has_ending(member.path, {".whl", ".zip"})) continue;
      const std::string member_name = name + "/" + member.path;
      DSBUILD_TRY(bytes, open_zip_member(archive, member, member_name));
      DSBUILD_CHECK(add_bytes(*bytes, member_name, false, depth + 1));
    }
    return {};
  }

  const FileReader& files_;
  std::vector<Target> gpus_;
  bool with_kernels_;
  std::vector<InspectedFile> found_;
  std::vector<Warning> warnings_;
};

Result<int> run_inspect(const CommandContext& context) {
  if (context.line.operands.empty())
    return fail(Exit::usage, "bad_option", "inspect", "no file given",
                "Usage: dsbuild inspect FILE|WHEEL|DIR…");
  DSBUILD_TRY(settings, load_settings(context.line.arguments, {}, context.system.files, context.data_dir));
  DSBUILD_TRY(gate, requested_gate(settings, context.system));
  Inspection inspection(context, gate.gpus);
  for (const std::string& operand : context.line.operands)
    DSBUILD_CHECK(inspection.add(operand, true));
  std::optional<Verdict> verdict;
  if (gate.asks()) {
    DSBUILD_TRY(judged, judge(gate, gated(inspection.found())));
    verdict = std::move(judged);
  }
  const bool json = settings.json.value;
  if (!json)
    for (const Warning& warning : inspection.warnings())
      print_message(render_warning(warning, Style()));
  const Style style = style_for(settings, context, false);
  DSBUILD_CHECK(print_result(json ? render_inspect_json(inspection.found(), inspection.warnings(), verdict)
                                  : render_inspect(inspection.found(), style),
                             style));
  return verdict ? gate_exit(*verdict, json, style_for(settings, context, true)) : 0;
}

}  // namespace

CommandRow inspect_command() {
  return {
      .name = "inspect",
      .help = "List the device images inside binary files; needs no CUDA",
      .run = run_inspect,
      .examples = {{"dsbuild inspect lib.so", "the device images inside a binary"},
                   {"dsbuild inspect dsbuild-out --gpu 8.6",
                    "those of every library of a bundle, and how that GPU runs them"},
                   {"dsbuild inspect torch-2.11.0-cp311-cp311-manylinux_2_28_x86_64.whl --gpu all",
                    "those of a wheel, without unpacking it"},
                   {"dsbuild inspect lib.so --kernels", "how large each kernel is for each arch"}},
      .options = {{.names = "--kernels", .help = "The size of each kernel for each arch, the largest first"}},
      .uses = {{"", {Topic::gpus, Topic::sizes}}, {"--gpu", {Topic::gpus, Topic::sizes, Topic::strict}}},
      .operands = Operands{"files", "FILE|DIR", "Binary files, wheels, or folders of them"},
      .reads_settings = false,
      .reads_project_file = false};
}

}  // namespace dsbuild
