#include "package/package.h"

#include <algorithm>

#include "base/version.h"
#include "binary/elf.h"
#include "bundle/bundle.h"
#include "bundle/describe.h"
#include "package/installed_ops.h"
#include "package/metadata.h"
#include "package/notices.h"
#include "package/platform.h"
#include "package/wheel_checks.h"
#include "package/wheel_provenance.h"
#include "provenance/whole_bundle.h"

namespace dsbuild {
namespace {

// One of the bundle, read from the disk.
struct Module {
  const ManifestOp* op = nullptr;
  std::string bytes;
  ManifestRuntime runtime;
  // Python imports it, by whichever finder has it. What is none of Python's modules is loaded by its file,
  // which the package looks for in its own folder.
  bool is_imported = true;
};

tl::unexpected<Error> no_module(const Path& bundle, const std::string& what) {
  return fail(Exit::unmet, "no_python_module", bundle.string(), what,
              "Name a bundle of dsbuild's with ops in it; those of torch are Python modules.");
}

// PEP 503, with the underscores that file names have.
std::string distribution_name(const std::string& pack) {
  std::string name = "dsbuild_";
  for (const char c : to_lower(pack)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain || name.back() != '_') name += plain ? c : '_';
  }
  return name + (name.back() == '_' ? "ops" : "_ops");
}

bool is_python_module(const ManifestOp& op, const BinaryFile& library) {
  return std::ranges::binary_search(library.exports, "PyInit_" + last_component(op.module));
}

Result<std::vector<Module>> read_modules(const Path& bundle, const Manifest& manifest,
                                         const FileReader& files) {
  std::vector<Module> modules;
  for (const ManifestOp& op : manifest.ops) {
    if (op.module.empty()) continue;
    DSBUILD_TRY(bytes, files.read_file(bundle / op.file));
    DSBUILD_TRY(library, read_binary(as_bytes_of(bytes), op.file));
    ManifestRuntime runtime = runtime_of(library);
    const bool is_imported = is_python_module(op, library);
    if (is_imported || needs_torch(runtime))
      modules.push_back({&op, std::move(bytes), std::move(runtime), is_imported});
  }
  return modules;
}

std::string short_version(const std::string& text) {
  return parse_version(text).value_or(Version{}).short_text();
}

// Of ".cpython-311-x86_64-linux-gnu.so": what CPython calls its ABI ("311", "313t" without the GIL), and its
// machine.
struct PythonAbi {
  std::string abi, machine;
};
Result<PythonAbi> python_abi(const ManifestTorch& torch, const Path& bundle) {
  const std::vector<std::string> words = split(torch.ext_suffix, "-");
  if (words.size() == 5 && words[0] == ".cpython" && words[3] == "linux")
    return PythonAbi{torch.python + "-cp" + words[1], words[2]};
  return fail(Exit::failed, "bad_manifest", (bundle / k_manifest_name).string(),
              "torch.ext_suffix '" + printable(torch.ext_suffix) + "' is none of CPython on Linux",
              "Build the bundle again for such a Python (--python).");
}

// "3.11" of "cp311".
std::string python_version(const std::string& tag) {
  return tag.size() > 3 ? tag.substr(2, 1) + "." + tag.substr(3) : tag;
}

std::string runs_with(const Manifest& manifest) {
  const ManifestTorch& torch = *manifest.torch;
  std::string text =
      manifest.source_version.empty() ? "" : manifest.pack + " " + manifest.source_version + ", ";
  text += "torch " + short_version(torch.version);
  if (!torch.cuda.empty()) text += ", CUDA " + short_version(torch.cuda);
  if (!torch.hip.empty()) text += ", ROCm " + short_version(torch.hip);
  return text + ", Python " + python_version(torch.python);
}

Result<std::vector<PackageFile>> loader_files(const Path& loader, const Package& package,
                                              const FileReader& files) {
  std::vector<PackageFile> all{{package.start_file, "import " + package.name + "\n"}};
  DSBUILD_TRY(names, files.list(loader));
  for (const std::string& file : names) {
    if (Path(file).extension() != ".py") continue;
    DSBUILD_TRY(text, files.read_file(loader / file));
    all.push_back({package.name + "/" + file, std::move(text)});
  }
  return all;
}

// As wheels' tags name it.
std::string machine_word(uint16_t elf_machine) {
  return elf_machine == k_machine_aarch64 ? "aarch64" : "x86_64";
}

// Tag, licences and what must come from elsewhere.
void describe_libraries(Package& package, const Manifest& manifest, const std::string& python,
                        const std::vector<PackagedLibrary>& libraries, const std::string& machine) {
  std::vector<ManifestRuntime> runtimes;
  for (const PackagedLibrary& library : libraries)
    runtimes.push_back(library.runtime);
  Platform platform = platform_of(runtimes, machine);
  package.tag = python + "-" + platform.tag;
  package.outside = std::move(platform.outside);
  add_licenses(package, manifest, libraries);
}

Result<void> add_warnings(Package& package, const std::string& bytes, const std::string& file) {
  DSBUILD_TRY(warnings, check_library(as_bytes_of(bytes), file));
  append(package.warnings, warnings);
  return {};
}

Result<PackageFile> manifest_file(const Path& bundle, const Package& package, const FileReader& files) {
  DSBUILD_TRY(text, files.read_file(bundle / k_manifest_name));
  return PackageFile{package.name + "/" + k_manifest_name, std::move(text)};
}

// Modules of torch, under the names that programs import them by.
Result<Package> package_of_modules(const Path& bundle, const Manifest& manifest, const Path& loader,
                                   const FileReader& files) {
  DSBUILD_TRY(modules, read_modules(bundle, manifest, files));
  if (modules.empty())
    return no_module(bundle,
                     "none of its libraries is a Python module (PyInit_…) or one of torch's (TORCH_LIBRARY)");
  Package package;
  package.name = distribution_name(manifest.pack);
  package.start_file = package.name + ".pth";
  DSBUILD_TRY(package_files, loader_files(loader, package, files));
  DSBUILD_TRY(manifest_copy, manifest_file(bundle, package, files));
  package_files.push_back(std::move(manifest_copy));
  const std::string root = package.name + "/";
  std::vector<PackagedLibrary> libraries;
  for (Module& module : modules) {
    package.ops.push_back(module.op->name);
    libraries.push_back({module.op, std::move(module.runtime)});
    DSBUILD_CHECK(add_warnings(package, module.bytes, module.op->file));
    package_files.push_back(
        {(module.is_imported ? root : "") + module.op->module_file(manifest.torch->ext_suffix),
         std::move(module.bytes)});
  }
  if (const auto claims = render_installed_ops(manifest, package.ops))
    package_files.push_back({root + k_installed_ops_path, *claims});
  for (const ManifestOp& op : manifest.ops)
    if (!std::ranges::count(package.ops, op.name)) package.left_out.push_back(op.name);
  DSBUILD_TRY(python, python_abi(*manifest.torch, bundle));
  describe_libraries(package, manifest, python.abi, libraries, python.machine);
  package.requires_python = "==" + python_version(manifest.torch->python) + ".*";
  package.requirements.push_back("torch==" + short_version(manifest.torch->version) + ".*");
  package.runs_with = runs_with(manifest);
  package.files = std::move(package_files);
  return package;
}

// Of the package dsbuild and of tvm-ffi.
constexpr const char* k_python_of_loader = ">=3.9";

// What dsbuild.load finds by the entry point of every wheel: the bundle as it is.
Result<Package> package_of_libraries(const Path& bundle, const Manifest& manifest, const FileReader& files) {
  Package package;
  package.name = distribution_name(manifest.pack);
  const std::string root = package.name + "/";
  package.files.push_back({root + "__init__.py", "# Ops for dsbuild.load (its docs/guides/wheel.md).\n"});
  DSBUILD_TRY(manifest_copy, manifest_file(bundle, package, files));
  package.files.push_back(std::move(manifest_copy));
  std::string machine;
  std::vector<PackagedLibrary> libraries;
  for (const ManifestOp& op : manifest.ops) {
    DSBUILD_TRY(bytes, files.read_file(bundle / op.file));
    DSBUILD_TRY(elf, read_elf(as_bytes_of(bytes), op.file));
    DSBUILD_TRY(library, read_binary(as_bytes_of(bytes), op.file));
    machine = machine_word(elf.machine);
    libraries.push_back({&op, runtime_of(library)});
    DSBUILD_CHECK(add_warnings(package, bytes, op.file));
    if (!std::ranges::count(package.ops, op.name)) package.ops.push_back(op.name);  // one for each vendor
    package.files.push_back({root + op.file, std::move(bytes)});
  }
  describe_libraries(package, manifest, "py3-none", libraries, machine);
  package.requires_python = k_python_of_loader;
  package.runs_with =
      "dsbuild.load" + (manifest.tvm_ffi.empty() ? "" : ", tvm-ffi " + short_version(manifest.tvm_ffi));
  return package;
}

// Manifests of older versions name tvm-ffi alone.
std::vector<std::string> required_packages(const Manifest& manifest) {
  if (!manifest.requires_dist.empty() || manifest.tvm_ffi.empty()) return manifest.requires_dist;
  return {"apache-tvm-ffi>=" + parse_version(manifest.tvm_ffi).value_or(Version{}).text()};
}

Result<void> check_version(const PackageOptions& options) {
  const std::string refusal = options.version ? wheel_version_refusal(*options.version, options.index) : "";
  if (refusal.empty()) return {};
  return fail(
      Exit::usage, "bad_version", "--version", "'" + printable(*options.version) + "' " + refusal,
      "As in 1.4.0, 1.4.0.post1 or 1.4.0rc2; +cu130 may follow for an index of your own (--index own).");
}

// What METADATA says besides.
void set_facts(Package& package, const Manifest& manifest, const PackageOptions& options) {
  package.pack = manifest.pack;
  package.version = options.version.value_or(default_wheel_version(manifest, options.index));
  package.urls = manifest.urls;
  for (std::string& requirement : required_packages(manifest))
    package.requirements.push_back(std::move(requirement));
  const bool is_made = options.description.empty();
  package.description = is_made ? describe_package(package, manifest) : options.description;
  package.description_type = is_made ? "text/markdown" : options.description_type;
}

}  // namespace

std::string Package::pip_name() const {
  return replace_all(name, "_", "-");
}

std::string Package::wheel_name() const {
  return name + "-" + version + "-" + tag + ".whl";
}

std::string Package::dist_info() const {
  return name + "-" + version + ".dist-info";
}

Result<Package> make_package(const Path& bundle, const Path& loader, const PackageOptions& options,
                             const FileReader& files) {
  DSBUILD_CHECK(check_version(options));
  DSBUILD_TRY(manifest, load_whole_bundle(bundle, files));
  if (manifest.ops.empty()) return no_module(bundle, "it has no ops: there is no wheel of it");
  DSBUILD_TRY(package, manifest.torch ? package_of_modules(bundle, manifest, loader, files)
                                      : package_of_libraries(bundle, manifest, files));
  std::ranges::sort(package.files, {}, &PackageFile::path);
  set_facts(package, manifest, options);
  DSBUILD_TRY(sboms, sboms_of_wheel(package.name, bundle, manifest, files));
  package.info_files.insert(package.info_files.end(), sboms.begin(), sboms.end());
  std::ranges::sort(package.info_files, {}, &PackageFile::path);
  return package;
}

}  // namespace dsbuild
