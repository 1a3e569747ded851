#include "bundle/manifest.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "bundle/json_cursor.h"

namespace dsbuild {

bool needs_torch(const ManifestRuntime& runtime) {
  return std::ranges::any_of(runtime.libraries, [](const std::string& name) {
    return name.starts_with("libtorch") || name.starts_with("libc10");
  });
}

namespace {

constexpr int k_schema = 1;

Json json_of(const std::map<std::string, std::string>& texts) {
  Json json = Json::object();
  for (const auto& [name, text] : texts)
    json[name] = text;
  return json;
}

Json json_of(const std::map<Target, int>& images) {
  Json array = Json::array();
  for (const auto& [target, count] : images) {
    array.push_back({{"kind", target.image_kind()}, {"arch", target.name()}, {"count", count}});
  }
  return array;
}

Json json_of(const std::vector<ManifestSource>& sources) {
  Json array = Json::array();
  for (const ManifestSource& source : sources) {
    array.push_back({{"path", source.path}, {"sha256", source.sha256}, {"archs", arch_array(source.archs)}});
  }
  return array;
}

Json json_of(const ManifestCpu& cpu) {
  return {{"level", cpu.level}, {"features", cpu.features}};
}

Json json_of(const ManifestRuntime& runtime) {
  return {{"libraries", runtime.libraries}, {"versions", json_of(runtime.versions)}};
}

Json json_of(const ManifestOp& op) {
  Json json = {{"name", op.name},
               {"module", op.module},
               {"backend", op.backend},
               {"file", op.file},
               {"sha256", op.sha256},
               {"bytes", op.bytes},
               {"archs", arch_array(op.archs)},
               {"images", json_of(op.images)},
               {"exports", op.exports},
               {"needs", op.needs},
               {"sources", json_of(op.sources)}};
  if (!op.module_suffix.empty()) json["module_suffix"] = op.module_suffix;
  if (op.cpu_baseline) json["cpu_baseline"] = json_of(*op.cpu_baseline);
  if (!op.features_off.empty()) json["features_off"] = op.features_off;
  if (op.device_link) json["device_link"] = true;
  if (op.runtime) json["runtime"] = json_of(*op.runtime);
  return json;
}

Json json_of(const ManifestTorch& torch) {
  return {{"version", torch.version},        {"cuda", torch.cuda},     {"hip", torch.hip},
          {"cxx11_abi", torch.cxx11_abi},    {"python", torch.python}, {"ext_suffix", torch.ext_suffix},
          {"accelerator", torch.accelerator}};
}

Json json_of(const ManifestToolkit& toolkit) {
  if (toolkit == ManifestToolkit{}) return nullptr;
  return {{"version", toolkit.version},
          {"host_compiler", toolkit.host_compiler},
          {"nvcc_sha256", toolkit.compiler_sha256}};
}

constexpr const char *k_clang_digest = "clang_sha256", *k_icpx_digest = "icpx_sha256";

Json compiler_json(const ManifestToolkit& toolkit, const char* digest_key) {
  return {{"version", toolkit.version}, {digest_key, toolkit.compiler_sha256}};
}

std::map<Target, int> read_images(const JsonCursor& images) {
  std::map<Target, int> counts;
  for (const JsonCursor& image : images.items()) {
    const auto target = parse_target_name(image.at("arch").text());
    const uint64_t count = image.at("count").number();
    if (!target) {
      image.at("arch").refuse("is not an architecture");
    } else if (image.at("kind").text() != target->image_kind()) {
      image.at("kind").refuse("does not fit its arch");
    } else if (count == 0 || count > static_cast<uint64_t>(std::numeric_limits<int>::max())) {
      image.at("count").refuse("is not a number of images");
    } else {
      counts[*target] = static_cast<int>(count);
    }
  }
  return counts;
}

std::vector<ManifestSource> read_sources(const JsonCursor& sources) {
  std::vector<ManifestSource> all;
  for (const JsonCursor& source : sources.items()) {
    all.push_back({source.at("path").text(), source.at("sha256").text(), source.at("archs").archs()});
  }
  return all;
}

// Libraries lie in the bundle itself: a manifest must not lead a reader elsewhere.
bool is_file_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

std::string read_file_name(const JsonCursor& file) {
  const std::string name = file.text();
  if (!is_file_name(name)) file.refuse("is not a file name");
  return name;
}

// It becomes a path too: no part of it may be empty ("..") or lead elsewhere.
std::string read_module(const JsonCursor& module) {
  const std::string name = module.text();
  const bool plain = name.find_first_of(std::string_view("/\0", 2)) == std::string::npos &&
                     ("." + name + ".").find("..") == std::string::npos;
  if (!name.empty() && !plain) module.refuse("is not a Python module");
  return name;
}

std::optional<ManifestCpu> read_cpu(const std::optional<JsonCursor>& cpu) {
  if (!cpu) return std::nullopt;
  return ManifestCpu{cpu->at("level").text(), cpu->at("features").texts()};
}

std::map<std::string, std::string> read_text_map(const std::optional<JsonCursor>& map) {
  std::map<std::string, std::string> texts;
  if (!map) return texts;
  for (const auto& [name, text] : map->members())
    texts[name] = text.text();
  return texts;
}

std::optional<ManifestRuntime> read_runtime(const std::optional<JsonCursor>& runtime) {
  if (!runtime) return std::nullopt;
  return ManifestRuntime{.libraries = runtime->at("libraries").texts(),
                         .versions = read_text_map(runtime->at("versions"))};
}

std::optional<ManifestTorch> read_torch(const std::optional<JsonCursor>& torch) {
  if (!torch) return std::nullopt;
  return ManifestTorch{.version = torch->at("version").text(),
                       .cuda = torch->at("cuda").text(),
                       .hip = torch->at("hip").text(),
                       .cxx11_abi = torch->at("cxx11_abi").flag(),
                       .python = read_file_name(torch->at("python")),
                       .ext_suffix = read_file_name(torch->at("ext_suffix")),
                       .accelerator = torch->at("accelerator").text()};
}

std::vector<std::string> read_texts(const std::optional<JsonCursor>& texts) {
  return texts ? texts->texts() : std::vector<std::string>{};
}

ManifestOp read_op(const JsonCursor& op) {
  const auto module_suffix = op.find("module_suffix"), device_link = op.find("device_link");
  return {.name = op.at("name").text(),
          .module = read_module(op.at("module")),
          .module_suffix = module_suffix ? read_file_name(*module_suffix) : "",
          .backend = op.at("backend").text(),
          .file = read_file_name(op.at("file")),
          .sha256 = op.at("sha256").text(),
          .bytes = op.at("bytes").number(),
          .archs = op.at("archs").archs(),
          .images = read_images(op.at("images")),
          .exports = op.at("exports").texts(),
          .needs = op.at("needs").texts(),
          .sources = read_sources(op.at("sources")),
          .device_link = device_link && device_link->flag(),
          .cpu_baseline = read_cpu(op.find("cpu_baseline")),
          .features_off = read_texts(op.find("features_off")),
          .runtime = read_runtime(op.find("runtime"))};
}

ManifestToolkit read_toolkit(const JsonCursor& toolkit) {
  if (toolkit.is_null()) return {};
  return {.version = toolkit.at("version").text(),
          .host_compiler = toolkit.at("host_compiler").text(),
          .compiler_sha256 = toolkit.at("nvcc_sha256").text()};
}

// One whose compiler is all there is of it.
ManifestToolkit read_compiler(const std::optional<JsonCursor>& compiler, const char* digest_key) {
  if (!compiler) return {};
  return {.version = compiler->at("version").text(),
          .host_compiler = "",
          .compiler_sha256 = compiler->at(digest_key).text()};
}

// They become files of a wheel.
std::map<std::string, std::string> read_license_files(const std::optional<JsonCursor>& map) {
  auto texts = read_text_map(map);
  for (const auto& [name, text] : texts)
    if (!is_file_name(name)) map->refuse("has a name that is not a file name");
  return texts;
}

Manifest read_manifest(const JsonCursor& top) {
  if (top.at("schema").number() != k_schema) {
    top.at("schema").refuse("is not 1: another version of dsbuild wrote it");
  }
  const auto source_version = top.find("source_version"), license = top.find("license");
  Manifest manifest{.dsbuild = top.at("dsbuild").text(),
                    .pack = top.at("pack").text(),
                    .source_version = source_version ? source_version->text() : "",
                    .license = license ? license->text() : "",
                    .license_files = read_license_files(top.find("license_files")),
                    .urls = read_text_map(top.find("urls")),
                    .build_string = top.at("build_string").text(),
                    .toolkit = read_toolkit(top.at("toolkit")),
                    .hip = read_compiler(top.find("hip"), k_clang_digest),
                    .sycl = read_compiler(top.find("sycl"), k_icpx_digest),
                    .cxx = top.at("cxx").text(),
                    .tvm_ffi = top.at("tvm_ffi").text(),
                    .requires_dist = read_texts(top.find("requires_dist")),
                    .torch = read_torch(top.find("torch")),
                    .compress_mode = top.at("compress_mode").text(),
                    .nvcc_prepend_flags = top.at("nvcc_prepend_flags").texts(),
                    .nvcc_append_flags = top.at("nvcc_append_flags").texts(),
                    .requested = top.at("requested").archs(),
                    .shared = top.at("shared").archs(),
                    .ops = {},
                    .failed = {}};
  for (const JsonCursor& op : top.at("ops").items())
    manifest.ops.push_back(read_op(op));
  for (const JsonCursor& failure : top.at("failed").items()) {
    manifest.failed.emplace_back(failure.at("op").text(), failure.at("what").text());
  }
  return manifest;
}

}  // namespace

std::string ManifestOp::module_file(const std::string& suffix) const {
  return module.empty() ? ""
                        : replace_all(module, ".", "/") + (module_suffix.empty() ? suffix : module_suffix);
}

std::vector<ArchSet> ManifestOp::modules() const {
  if (device_link) return {archs};
  std::vector<ArchSet> modules;
  for (const ManifestSource& source : sources)
    if (!source.archs.empty()) modules.push_back(source.archs);
  return modules;
}

std::string ManifestOp::planned_as() const {
  constexpr std::string_view k_end = ".so";
  return file.ends_with(k_end) ? file.substr(0, file.size() - k_end.size()) : name;
}

const ManifestOp* Manifest::find(const std::string& op) const {
  const auto found = std::find_if(ops.begin(), ops.end(), [&](const ManifestOp& each) {
    return each.name == op || each.planned_as() == op;
  });
  return found == ops.end() ? nullptr : &*found;
}

std::vector<const ManifestOp*> Manifest::find_all(const std::string& op) const {
  std::vector<const ManifestOp*> found;
  for (const ManifestOp& each : ops)
    if (each.name == op) found.push_back(&each);
  return found;
}

std::string render_manifest(const Manifest& manifest) {
  Json ops = Json::array();
  for (const ManifestOp& op : manifest.ops)
    ops.push_back(json_of(op));
  Json failed = Json::array();
  for (const auto& [op, what] : manifest.failed)
    failed.push_back({{"op", op}, {"what", what}});
  Json json = {{"schema", k_schema}, {"dsbuild", manifest.dsbuild}, {"pack", manifest.pack}};
  if (!manifest.source_version.empty()) json["source_version"] = manifest.source_version;
  if (!manifest.license.empty()) json["license"] = manifest.license;
  if (!manifest.license_files.empty()) json["license_files"] = json_of(manifest.license_files);
  if (!manifest.urls.empty()) json["urls"] = json_of(manifest.urls);
  json["build_string"] = manifest.build_string;
  json["toolkit"] = json_of(manifest.toolkit);
  if (manifest.hip != ManifestToolkit{}) json["hip"] = compiler_json(manifest.hip, k_clang_digest);
  if (manifest.sycl != ManifestToolkit{}) json["sycl"] = compiler_json(manifest.sycl, k_icpx_digest);
  json["cxx"] = manifest.cxx;
  json["tvm_ffi"] = manifest.tvm_ffi;
  if (!manifest.requires_dist.empty()) json["requires_dist"] = manifest.requires_dist;
  if (manifest.torch) json["torch"] = json_of(*manifest.torch);
  json["compress_mode"] = manifest.compress_mode;
  json["nvcc_prepend_flags"] = manifest.nvcc_prepend_flags;
  json["nvcc_append_flags"] = manifest.nvcc_append_flags;
  json["requested"] = arch_array(manifest.requested);
  json["shared"] = arch_array(manifest.shared);
  json["ops"] = std::move(ops);
  json["failed"] = std::move(failed);
  return json_text(json);
}

Result<Manifest> parse_manifest(std::string_view json, const std::string& file) {
  return read_json<Manifest>(json, "bad_manifest", file, read_manifest);
}

}  // namespace dsbuild
