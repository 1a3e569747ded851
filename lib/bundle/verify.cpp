#include "bundle/verify.h"

#include <algorithm>

#include "arch/cpu_level.h"
#include "arch/intel.h"
#include "base/demangle.h"
#include "base/digest.h"
#include "base/text.h"
#include "bundle/bundle.h"
#include "bundle/json_cursor.h"

namespace dsbuild {
namespace {

using ImageCounts = std::map<Target, int>;

struct LinkedSource {
  std::string name;
  ArchSet archs;
};

// What a library must hold, from a plan or from a manifest.
struct ExpectedLibrary {
  std::string op;
  std::string file;
  std::vector<LinkedSource> sources;  // those with device code, in the order of the link
  const std::vector<std::string>& exports;
};

ImageCounts once_each(const ArchSet& archs) {
  ImageCounts counts;
  for (const Target& target : archs)
    counts[target] = 1;
  return counts;
}

int count_of(const ImageCounts& counts, const Target& target) {
  const auto found = counts.find(target);
  return found == counts.end() ? 0 : found->second;
}

Difference difference_in(const std::string& op, const std::string& file, const std::string& sentence) {
  return {op, file, op + ": " + sentence};
}

std::string images_text(int count, const Target& target) {
  return plural(static_cast<size_t>(count), target.name() + " image");
}

// `place` is "" or " in fused_adam.so".
std::string count_sentence(const Target& target, int planned, int found, const std::string& place = "") {
  if (found == 0) return "has no " + target.name() + " image" + place;
  if (planned == 0) return "has an image that was not planned" + place + ": " + target.name();
  return "has " + images_text(found, target) + place + ", planned " + std::to_string(planned);
}

// SYCL's compilers split kernels among as many images as they like, but alike for each device: `planned` with
// as many images of each device as the device has that has most. A driver takes any of the SPIR-V, and ocloc
// may put one beside the code of a device: they may be more, but without a plan for SPIR-V not more than
// there is code.
ImageCounts split_as_found(ImageCounts planned, const ImageCounts& found) {
  int images = 1, devices = 0;
  const auto is_device = [](const Target& target) {
    return target.vendor == &intel() && !target.is_virtual();
  };
  for (const auto& [target, unused] : planned) {
    if (!is_device(target)) continue;
    images = std::max(images, count_of(found, target));
    ++devices;
  }
  for (auto& [target, count] : planned) {
    if (is_device(target)) count = images;
  }
  const int spirv = count_of(found, spir64());
  const bool is_spirv_planned = count_of(planned, spir64()) > 0;
  if (is_spirv_planned || devices > 0)
    planned[spir64()] = is_spirv_planned ? std::max(images, spirv) : std::min(images * devices, spirv);
  return planned;
}

// Calls report(target, planned, found) for each target whose counts differ, in canonical order.
template <class Report>
void for_each_difference(const ImageCounts& planned, const ImageCounts& found, Report report) {
  ImageCounts all = planned;
  all.insert(found.begin(), found.end());
  for (const auto& [target, unused] : all) {
    const int want = count_of(planned, target);
    const int have = count_of(found, target);
    if (want != have) report(target, want, have);
  }
}

std::vector<Difference> object_differences(const std::string& op, const ExpectedObject& object,
                                           const BinaryFile& binary) {
  std::vector<Difference> differences;
  const ImageCounts images = count_images(binary.images);
  for_each_difference(split_as_found(once_each(object.archs), images), images,
                      [&](const Target& target, int planned, int found) {
                        const std::string what = object.source + " " + count_sentence(target, planned, found);
                        differences.push_back(difference_in(op, object.source, what));
                      });
  return differences;
}

// One container per source, in the order of the link: each difference has its source.
void compare_containers(const ExpectedLibrary& expected, const BinaryFile& binary,
                        std::vector<Difference>& differences) {
  for (size_t i = 0; i < expected.sources.size(); ++i) {
    const LinkedSource& source = expected.sources[i];
    const ImageCounts images = count_images(binary.containers[i].images);
    for_each_difference(split_as_found(once_each(source.archs), images), images,
                        [&](const Target& target, int planned, int found) {
                          const std::string what =
                              source.name + " " +
                              count_sentence(target, planned, found, " in " + expected.file);
                          differences.push_back(difference_in(expected.op, source.name, what));
                        });
  }
}

std::string sources_with(const ExpectedLibrary& expected, const Target& target) {
  std::vector<std::string> names;
  for (const LinkedSource& source : expected.sources) {
    if (source.archs.count(target) > 0) names.push_back(source.name);
  }
  return names.size() == 1 ? names.front() : "one of " + join(names, ", ");
}

std::string sum_sentence(const ExpectedLibrary& expected, const Target& target, int planned, int found) {
  if (found > planned) {
    const std::string more = " (" + std::to_string(found - planned) + " more than its sources give)";
    return expected.file + " has an image that was not planned: " + target.name() + more;
  }
  return sources_with(expected, target) + " has no " + target.name() + " image (" + expected.file + " has " +
         std::to_string(found) + ", its sources give " + std::to_string(planned) + ")";
}

// Containers were added or lost, so that none can be given to a source: the sums tell what differs.
void compare_sums(const ExpectedLibrary& expected, const BinaryFile& binary,
                  std::vector<Difference>& differences) {
  ImageCounts sum;
  for (const LinkedSource& source : expected.sources) {
    for (const Target& target : source.archs)
      ++sum[target];
  }
  const ImageCounts images = count_images(binary.images);
  for_each_difference(split_as_found(sum, images), images, [&](const Target& target, int planned, int found) {
    differences.push_back(
        difference_in(expected.op, expected.file, sum_sentence(expected, target, planned, found)));
  });
}

// What the library has in the place of a symbol: the same function with a C++ name, or one of nearly its
// name.
std::string instead_of(const std::string& symbol, const std::vector<std::string>& exports) {
  for (const std::string& name : exports) {
    const std::string written = demangled(name);
    if (written != name && written.substr(0, written.find('(')) == symbol)
      return ": it has " + written + ", whose name is C++'s; declare it with extern \"C\"";
  }
  return did_you_mean(symbol, exports);
}

std::vector<Difference> library_differences(const ExpectedLibrary& expected, const BinaryFile& binary) {
  std::vector<Difference> differences;
  if (binary.containers.size() == expected.sources.size()) {
    compare_containers(expected, binary, differences);
  } else {
    compare_sums(expected, binary, differences);
  }
  for (const std::string& symbol : expected.exports) {
    if (std::ranges::binary_search(binary.exports, symbol)) continue;
    const std::string what = expected.file + k_does_not_export + symbol + instead_of(symbol, binary.exports);
    differences.push_back(difference_in(expected.op, expected.file, what));
  }
  return differences;
}

void append(std::vector<Difference>& to, const std::vector<Difference>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

ExpectedLibrary library_of(const ExpectedOp& op) {
  ExpectedLibrary library{op.op, Path(op.library).filename().string(), {}, op.exports};
  for (const ExpectedObject& object : op.objects) {
    if (!object.archs.empty()) library.sources.push_back({object.source, object.archs});
  }
  return library;
}

ExpectedLibrary library_of(const ManifestOp& op) {
  ExpectedLibrary library{op.name, op.file, {}, op.exports};
  if (op.device_link) library.sources = {{k_device_code, op.archs}};
  for (const ManifestSource& source : op.sources) {
    if (!source.archs.empty()) library.sources.push_back({source.path, source.archs});
  }
  return library;
}

Result<BinaryFile> read_loadable(const std::string& bytes, const std::string& name) {
  auto binary = read_binary(as_bytes_of(bytes), name);
  if (binary) keep_loadable(*binary);
  return binary;
}

Result<BinaryFile> load_binary(const Path& path, const FileReader& files) {
  DSBUILD_TRY(bytes, files.read_file(path));
  return read_loadable(bytes, path.string());
}

// The library's bytes against the manifest's size and digest.
std::vector<Difference> byte_differences(const ManifestOp& op, const std::string& bytes) {
  if (bytes.size() != op.bytes) {
    const std::string sizes =
        std::to_string(bytes.size()) + " bytes, in the manifest " + std::to_string(op.bytes);
    return {difference_in(op.name, op.file, op.file + " has " + sizes)};
  }
  if (sha256(bytes) == op.sha256) return {};
  return {difference_in(op.name, op.file, op.file + " is not the file of the manifest: its sha256 differs")};
}

// A library that cannot be read is a difference, not an error: the other libraries are still looked at.
std::vector<Difference> content_differences(const ManifestOp& op, const std::string& bytes) {
  const auto binary = read_loadable(bytes, op.file);
  if (!binary) return {difference_in(op.name, op.file, op.file + " cannot be read: " + binary.error().what)};
  std::vector<Difference> differences = library_differences(library_of(op), *binary);
  if (!differences.empty()) return differences;
  for_each_difference(op.images, count_images(binary->images),
                      [&](const Target& target, int planned, int found) {
                        const std::string what = op.file + " " + count_sentence(target, planned, found);
                        differences.push_back(difference_in(op.name, op.file, what));
                      });
  return differences;
}

Result<std::vector<Difference>> op_differences(const ManifestOp& op, const Manifest& manifest,
                                               const Path& bundle, const FileReader& files) {
  std::vector<Difference> differences;
  for (const std::string& need : op.needs) {
    if (std::ranges::find(manifest.ops, need, &ManifestOp::name) != manifest.ops.end()) continue;
    differences.push_back(difference_in(op.name, op.file, "needs " + need + ", which is not in the bundle"));
  }
  if (files.kind(bundle / op.file) != FileKind::file) {
    differences.push_back(difference_in(op.name, op.file, op.file + " is missing"));
    return differences;
  }
  DSBUILD_TRY(bytes, files.read_file(bundle / op.file));
  append(differences, byte_differences(op, bytes));
  append(differences, content_differences(op, bytes));
  return differences;
}

// What a wheel that the bundle came in has put beside its libraries: the list of its files (RECORD, PEP 376)
// lies beside the bundle's folder.
class WheelRecord {
 public:
  // Of none where there is no such list.
  static Result<WheelRecord> read(const Path& bundle, const FileReader& files) {
    WheelRecord record;
    const Path folder = files.absolute(bundle).lexically_normal() / ".";
    const Path package = folder.parent_path();
    DSBUILD_TRY(names, files.list(package.parent_path()));
    const std::string beginning = package.filename().string() + "-";
    for (const std::string& name : names) {
      if (!name.starts_with(beginning) || !name.ends_with(".dist-info")) continue;
      const auto text = files.read_file(package.parent_path() / name / "RECORD");
      if (text) record.take(*text, package.filename().string() + "/");
    }
    return record;
  }

  // "" where it is one of the wheel's, else what it is.
  Result<std::string> why_foreign(const Path& bundle, const std::string& name,
                                  const FileReader& files) const {
    const auto digest = digests_.find(name);
    if (digest == digests_.end())
      return is_cache_of_python(bundle, name, files) ? ""
                                                     : name + " is in the bundle but not in its manifest";
    DSBUILD_TRY(bytes, files.read_file(bundle / name));
    if (digest->second == "sha256=" + sha256_urlsafe(bytes)) return "";
    return name + " is not the file of the wheel: its sha256 differs from RECORD's";
  }

 private:
  // Lines are "dsbuild_native_ops/__init__.py,sha256=…,46".
  void take(const std::string& text, const std::string& folder) {
    for (const std::string& line : split_lines(text)) {
      const std::vector<std::string> words = split(line, ",");
      if (words.size() == 3 && words[0].starts_with(folder))
        digests_.emplace(words[0].substr(folder.size()), words[1]);
    }
  }

  // Python, and pip too, keeps there what it compiled of the wheel's own files.
  bool is_cache_of_python(const Path& bundle, const std::string& name, const FileReader& files) const {
    const auto kept = files.list(bundle / name);
    return name == "__pycache__" && kept && std::ranges::all_of(*kept, [&](const std::string& file) {
             return file.ends_with(".pyc") && digests_.contains(file.substr(0, file.find('.')) + ".py");
           });
  }

  std::map<std::string, std::string> digests_;  // of paths below the bundle
};

Result<std::vector<Difference>> foreign_files(const Manifest& manifest, const Path& bundle,
                                              const FileReader& files) {
  DSBUILD_TRY(names, files.list(bundle));
  DSBUILD_TRY(record, WheelRecord::read(bundle, files));
  std::vector<Difference> differences;
  for (const std::string& name : names) {
    if (name == k_manifest_name || name == k_statement_name || name == k_signature_name ||
        std::ranges::find(manifest.ops, name, &ManifestOp::file) != manifest.ops.end())
      continue;
    DSBUILD_TRY(why, record.why_foreign(bundle, name, files));
    if (!why.empty()) differences.push_back({"", name, why});
  }
  return differences;
}

constexpr const char *k_warn = "warn", *k_error = "error";  // what becomes of a module's undefined symbols
constexpr const char* k_loaded_before =
    "; a process that imports it must have loaded them before (RTLD_GLOBAL)";

ExpectedOp read_expected(const JsonCursor& top) {
  ExpectedOp expected{.op = top.at("op").text(),
                      .library = top.at("library").text(),
                      .objects = {},
                      .exports = top.at("exports").texts()};
  for (const JsonCursor& object : top.at("objects").items()) {
    expected.objects.push_back(
        {object.at("source").text(), object.at("file").text(), object.at("archs").archs()});
  }
  if (const auto module = top.find("module")) {
    expected.module = {module->at("libraries").texts(), module->at("folders").texts(),
                       module->at("python").text(), module->at("torch").text(),
                       module->at("undefined").text() == k_warn};
  }
  return expected;
}

Result<std::vector<Difference>> module_differences(const ExpectedOp& op, const Path& build_dir,
                                                   const FileReader& files) {
  std::vector<Difference> differences;
  if (!op.module) return differences;
  DSBUILD_TRY(missing, find_missing_symbols(*op.module, build_dir / op.library, build_dir, files));
  const std::string file = Path(op.library).filename().string();
  if (missing.empty()) return differences;
  const std::string sentence = missing_symbols_sentence(file, missing);
  differences.push_back(difference_in(op.op, file, sentence + (op.module->warns ? k_loaded_before : "")));
  differences.back().is_warning = op.module->warns;
  return differences;
}

}  // namespace

std::string render_expected(const ExpectedOp& expected) {
  Json objects = Json::array();
  for (const ExpectedObject& object : expected.objects) {
    objects.push_back(
        {{"source", object.source}, {"file", object.file}, {"archs", arch_array(object.archs)}});
  }
  Json json = {{"op", expected.op},
               {"library", expected.library},
               {"objects", std::move(objects)},
               {"exports", expected.exports}};
  if (const auto& module = expected.module) {
    json["module"] = {{"libraries", module->libraries},
                      {"folders", module->folders},
                      {"python", module->python},
                      {"torch", module->torch},
                      {"undefined", module->warns ? k_warn : k_error}};
  }
  return json_text(json);
}

Result<ExpectedOp> parse_expected(std::string_view json, const std::string& file) {
  return read_json<ExpectedOp>(json, "bad_expected", file, read_expected);
}

std::map<Target, int> count_images(const std::vector<DeviceImage>& images) {
  ImageCounts counts;
  for (const DeviceImage& image : images)
    ++counts[image.target];
  return counts;
}

Result<std::vector<Difference>> verify_op(const ExpectedOp& expected, const Path& build_dir,
                                          const FileReader& files) {
  std::vector<Difference> differences;
  for (const ExpectedObject& object : expected.objects) {
    DSBUILD_TRY(binary, load_binary(build_dir / object.file, files));
    append(differences, object_differences(expected.op, object, binary));
  }
  DSBUILD_TRY(library, load_binary(build_dir / expected.library, files));
  append(differences, library_differences(library_of(expected), library));
  DSBUILD_TRY(of_module, module_differences(expected, build_dir, files));
  append(differences, of_module);
  return differences;
}

std::vector<Warning> lesser_cpu_warnings(const Manifest& manifest, const std::string& cpu_features) {
  std::vector<Warning> warnings;
  for (const ManifestOp& op : manifest.ops) {
    const auto missing = op.cpu_baseline ? missing_features(op.cpu_baseline->features, cpu_features)
                                         : std::vector<std::string>{};
    if (missing.empty()) continue;
    warnings.push_back(warning("lesser_cpu", op.name,
                               "it is built for " + op.cpu_baseline->level + ", and this CPU lacks " +
                                   join(missing, ", ") + ": it must not be loaded here",
                               "Build with a lower --cpu-baseline for this machine."));
  }
  return warnings;
}

Result<std::vector<Difference>> verify_bundle(const Path& bundle, const FileReader& files) {
  DSBUILD_TRY(manifest, load_manifest(bundle, files));
  DSBUILD_TRY(differences, foreign_files(manifest, bundle, files));
  for (const ManifestOp& op : manifest.ops) {
    DSBUILD_TRY(found, op_differences(op, manifest, bundle, files));
    append(differences, found);
  }
  return differences;
}

Result<void> check_undamaged(const Path& bundle, const FileReader& files) {
  DSBUILD_TRY(differences, verify_bundle(bundle, files));
  if (differences.empty()) return {};
  return fail(
      Exit::failed, "damaged_bundle", bundle.string(),
      "differs from its manifest (" + plural(differences.size(), "difference") + "): " + differences[0].what,
      "`" + own_command({"verify", bundle.string()}) + "` shows all of them; build the bundle again.");
}

}  // namespace dsbuild
