#include "project_pack.h"

#include <algorithm>

#include "base/build_layout.h"
#include "named_operands.h"

namespace dsbuild {
namespace {

// The CUDA that a build would try first.
Path cuda_home_of(const Settings& settings, const CommandContext& context) {
  Session session(settings, context.system);
  const Toolkits toolkits = find_toolkits(settings, context.system, session.facts, session.digests);
  const auto cuda = std::ranges::find(toolkits.found, &k_nvcc_family, &Toolkit::family);
  return cuda == toolkits.found.end() ? Path{} : cuda->home;
}

void set_variables(Environment& environment,
                   const std::map<std::string, std::optional<std::string>>& changed) {
  for (const auto& [name, value] : changed) {
    if (value)
      environment[name] = *value;
    else
      environment.erase(name);
  }
}

}  // namespace

Result<WrittenProject> pack_of_project(const NamedProject& project, const Path& pack_folder,
                                       const Settings& settings, const CommandContext& context) {
  if (settings.verbosity >= 0 && project.given.empty())
    print_message("dsbuild: reading " + project.path.string() + ": its setup.py, if it has one, is run by " +
                  settings.python.value + " (the project's own code; nothing is compiled)\n");
  DSBUILD_TRY(written,
              write_project(project, pack_folder, settings, cuda_home_of(settings, context), context.system));
  if (settings.verbosity >= 0)
    for (const std::string& line : written.pack.said)
      print_message("  " + line + "\n");
  return written;
}

Operands project_operand(const std::string& verb) {
  return {"what", "PACK|DIR|OP", "A pack, or a folder with a setup.py; then the ops to " + verb + " [all]"};
}

Option extensions_option() {
  return {
      .names = "--extensions",
      .type = "FILE",
      .help =
          "Read DIR's extensions from this file, which dsbuild.setuptools writes, and do not run setup.py"};
}

Result<CommandLine> line_for_project(const CommandContext& context) {
  CommandLine line = context.line;
  Arguments& arguments = line.arguments;
  DSBUILD_TRY(named, named_operands(context));
  if (named.pack.empty() && named.project.empty()) {
    if (!named.ops.empty()) arguments.values["--ops"] = named.ops;
    return line;
  }
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  arguments.values["--pack"] = named.pack.empty() ? named.project : named.pack;
  if (!named.ops.empty() || !settings.selection.ops_given)
    arguments.values["--ops"] = named.ops.empty() ? "all" : named.ops;
  if (named.project.empty()) return line;
  const std::string& word = named.project;
  const FileReader& files = context.system.files;
  const NamedProject project{word, line.value("--extensions")};
  const Path pack = settings.build_dir.value.string() + k_project_pack_suffix;
  DSBUILD_TRY(written, pack_of_project(project, pack, settings, context));
  if (!written.pack.missing.empty() && project.given.empty())
    return fail(Exit::failed, "bad_project", word,
                "modules would not be whole without\n" + join(written.pack.missing, "\n"),
                "Write a pack that says it (`" +
                    own_command({"new", "--from", word}, given_among(settings, {"--python"})) +
                    "`), or build this project by itself.");
  set_variables(context.system.environment, written.environment);
  if (!written.passed.empty() && !arguments.find("--pass-environment"))
    arguments.values["--pass-environment"] = join(written.passed, ",");
  arguments.values["--pack"] = files.absolute(pack).string();
  // As in torch's build, which reads its variable for extensions whose flags name no archs.
  const bool asks_for_others = !settings.arch.is_default() && settings.arch.origin != k_arch_variable;
  if (!asks_for_others && !written.pack.archs.empty()) {
    arguments.values["--arch"] = written.pack.archs;
    arguments.values["--allow-disjoint-archs"] = "true";  // each extension has those of its flags
  }
  return line;
}

Result<std::vector<std::string>> put_in_place(const Path& bundle, const Settings& settings, System& system) {
  FileSystem& files = system.files;
  DSBUILD_TRY(manifest, load_manifest(bundle, files));
  DSBUILD_TRY(pack, load_pack(settings, system));
  std::vector<std::string> placed;
  for (const ManifestOp& op : manifest.ops) {
    const std::string module = manifest.torch ? op.module_file(manifest.torch->ext_suffix) : "";
    if (module.empty()) continue;
    const Path file = pack.source_root / pack.package_root / module;
    DSBUILD_TRY(bytes, files.read_file(bundle / op.file));
    const auto there = files.read_file(file);
    if (!there || *there != bytes) {
      DSBUILD_CHECK(files.make_directories(file.parent_path()));
      DSBUILD_CHECK(files.write_file(file, bytes));
    }
    placed.push_back(file.lexically_normal().string());
  }
  return placed;
}

}  // namespace dsbuild
