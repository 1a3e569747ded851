// {tvm_ffi: ">=0.1.15"}: tvm-ffi's headers and library, as its wheel lays them out: include/tvm/ffi,
// include/dlpack and lib/libtvm_ffi.so in the folder tvm_ffi.
#include "requirements/probe.h"
#include "sys/site_packages.h"

namespace dsbuild {
namespace {

struct TvmFfi {
  Path home;
  Version version;
};

// As the header says it: that is what an op is compiled against. A header without the macros is
// from before 0.1, which no op can use.
Version header_version(const FileReader& files, const Path& home) {
  const Result<std::string> header = files.read_file(home / "include" / "tvm" / "ffi" / "c_api.h");
  if (!header) return {};
  const std::string major = macro_value(*header, "TVM_FFI_VERSION_MAJOR");
  const std::string text = major + "." + macro_value(*header, "TVM_FFI_VERSION_MINOR") + "." +
                           macro_value(*header, "TVM_FFI_VERSION_PATCH");
  return parse_version(text).value_or(Version{});
}

std::optional<TvmFfi> tvm_ffi_at(const FileReader& files, const Path& home) {
  if (files.kind(home / "lib" / "libtvm_ffi.so") != FileKind::file) return std::nullopt;
  const Version version = header_version(files, home);
  if (version.empty()) return std::nullopt;
  return TvmFfi{home, version};
}

// Without starting Python: dsbuild's own cache, then every folder of Python packages.
std::vector<TvmFfi> find_on_disk(const ProbeInput& input) {
  const FileReader& files = input.system.files;
  const Path cache = input.settings.cache_dir / "tvm_ffi";
  std::vector<Path> homes;
  for (const std::string& version : by_version(files, cache, ""))
    homes.push_back(cache / version / "tvm_ffi");
  for (const Path& packages : find_site_packages(input.system, input.settings.python.value))
    homes.push_back(packages / "tvm_ffi");
  std::vector<TvmFfi> found;
  for (const Path& home : homes) {
    if (const auto tvm_ffi = tvm_ffi_at(files, home)) found.push_back(*tvm_ffi);
  }
  return found;
}

Result<FileBackedFact> ask_for_folder(const Interpreter& python) {
  static const char script[] = R"(
import importlib.util, sys
spec = importlib.util.find_spec(sys.argv[1])
if not spec or not spec.origin:
    print("no Python module " + sys.argv[1])
    sys.exit(1)
print(spec.submodule_search_locations[0])
print(spec.origin)
)";
  return ask_python(python, "python folder tvm_ffi", script, "tvm_ffi");
}

Finding usable(const ProbeInput& input, const TvmFfi& tvm_ffi) {
  const Path include = tvm_ffi.home / "include";
  const Path bundled = tvm_ffi.home / "3rdparty" / "dlpack" / "include";
  Finding finding = met(input, tvm_ffi.version.text() + " in " + tvm_ffi.home.string());
  finding.version = tvm_ffi.version.text();
  finding.usage.include_dirs = {include.string()};
  if (input.system.files.kind(include / "dlpack" / "dlpack.h") != FileKind::file)
    finding.usage.include_dirs.push_back(bundled.string());
  finding.usage.roots = {{"tvm_ffi", tvm_ffi.home.string()}};
  finding.usage.link_flags = {"-L" + (tvm_ffi.home / "lib").string(), "-ltvm_ffi"};
  return finding;
}

bool fits(const ProbeInput& input, const TvmFfi& tvm_ffi) {
  return input.requirement.range.contains(tvm_ffi.version);
}

std::string misfit(const ProbeInput& input, const TvmFfi& tvm_ffi) {
  return "tvm-ffi " + tvm_ffi.version.text() + " in " + tvm_ffi.home.string() + " is not " +
         input.requirement.range.text;
}

// TVM_FFI_HOME is a demand: when it is set, nothing else is looked at.
Finding at_demanded_home(const ProbeInput& input, const Path& home) {
  const std::optional<TvmFfi> tvm_ffi = tvm_ffi_at(input.system.files, input.system.files.absolute(home));
  if (!tvm_ffi)
    return unmet(input, "TVM_FFI_HOME: no include/tvm/ffi/c_api.h and lib/libtvm_ffi.so in " + home.string());
  return fits(input, *tvm_ffi) ? usable(input, *tvm_ffi)
                               : unmet(input, "TVM_FFI_HOME: " + misfit(input, *tvm_ffi));
}

}  // namespace

Version find_tvm_ffi(const Interpreter& python) {
  const Result<FileBackedFact> folder = ask_for_folder(python);
  const auto there = folder ? tvm_ffi_at(python.system.files, folder->answer) : std::nullopt;
  return there ? there->version : Version{};
}

Finding probe_tvm_ffi(const ProbeInput& input) {
  const std::string demanded = input.settings.variable("TVM_FFI_HOME");
  if (!demanded.empty()) return at_demanded_home(input, demanded);

  const std::vector<TvmFfi> found = find_on_disk(input);
  for (const TvmFfi& tvm_ffi : found) {
    if (fits(input, tvm_ffi)) return usable(input, tvm_ffi);
  }
  const Result<FileBackedFact> folder = ask_for_folder(interpreter_of(input));
  const auto last = folder ? tvm_ffi_at(input.system.files, folder->answer) : std::nullopt;
  if (last && fits(input, *last)) return usable(input, *last);
  if (!found.empty()) return unmet(input, misfit(input, found.front()));
  if (last) return unmet(input, misfit(input, *last));
  return unmet(input, "tvm-ffi not found" + (folder ? "" : " (" + folder.error().what + ")"));
}

}  // namespace dsbuild
