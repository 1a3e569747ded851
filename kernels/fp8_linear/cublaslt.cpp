#include "cublaslt.h"

#include <dlfcn.h>
#include <tvm/ffi/extra/c_env_api.h>

#include <vector>

namespace dsbuild::ops::cublaslt {
namespace {

struct Version {
  const char* soname;
  const char* folder;   // of the PyPI package, below site-packages
  const char* package;  // its name
  int driver;           // the oldest that runs it, as cudaDriverGetVersion tells it
};
constexpr Version k_versions[] = {
    {"libcublasLt.so.13", "nvidia/cu13/lib", "nvidia-cublas", 13000},
    {"libcublasLt.so.12", "nvidia/cublas/lib", "nvidia-cublas-cu12", 12000},
};

// The folder with `depth` more parts below it, or "" if there are not so many.
std::string above(std::string path, int depth) {
  for (; depth > 0; --depth) {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {};
    path.resize(slash);
  }
  return path;
}

std::string file_of(const void* symbol) {
  Dl_info info{};
  return dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

// The folders that may hold nvidia/: that of the package tvm_ffi (its library is tvm_ffi/lib/libtvm_ffi.so),
// and those around this library, which may lie in a package of its own.
std::vector<std::string> package_folders() {
  std::vector<std::string> folders;
  const std::string tvm_ffi = above(file_of(reinterpret_cast<const void*>(&TVMFFIEnvGetStream)), 3);
  if (!tvm_ffi.empty()) folders.push_back(tvm_ffi);
  const std::string own = file_of(reinterpret_cast<const void*>(&find));
  const size_t packages = own.rfind("-packages/");  // site-packages, or Debian's dist-packages
  if (packages != std::string::npos) folders.push_back(own.substr(0, packages + sizeof "-packages" - 1));
  return folders;
}

// A driver that is too old for a version would let it fail later and say less. No driver: ask no more.
bool driver_runs(const Version& version) {
  int driver = 0;
  return cudaDriverGetVersion(&driver) != cudaSuccess || driver == 0 || driver >= version.driver;
}

void* open_any(std::string& looked) {
  for (const Version& version : k_versions) {
    if (void* handle = dlopen(version.soname, RTLD_NOW | RTLD_NOLOAD)) return handle;
  }
  const std::vector<std::string> folders = package_folders();
  for (const Version& version : k_versions) {
    if (!driver_runs(version)) {
      looked += std::string("\n  ") + version.soname + ": the GPU's driver is too old for it";
      continue;
    }
    if (void* handle = dlopen(version.soname, RTLD_NOW | RTLD_LOCAL)) return handle;
    looked += std::string("\n  ") + version.soname + " on the loader's path (" + version.package + ")";
    for (const std::string& folder : folders) {
      const std::string path = folder + "/" + version.folder + "/" + version.soname;
      if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
      looked += "\n  " + path;
    }
  }
  return nullptr;
}

template <class Function>
void read(void* handle, const char* name, Function& function, std::string& missing) {
  void* const symbol = dlsym(handle, name);
  if (symbol == nullptr && missing.empty()) missing = name;
  function = reinterpret_cast<Function>(symbol);
}

Found open() {
  std::string looked;
  void* const handle = open_any(looked);
  if (handle == nullptr) {
    return {
        nullptr,
        "cuBLASLt is not there; install the package nvidia-cublas (CUDA 13) or nvidia-cublas-cu12 (CUDA 12), "
        "as torch does; looked for:" +
            looked};
  }
  auto& library = *new Library{};  // never closed
  std::string missing;
#define DSBUILD_READ(name) read(handle, "cublasLt" #name, library.name, missing)
  DSBUILD_READ(GetVersion);
  DSBUILD_READ(GetStatusName);
  DSBUILD_READ(Create);
  DSBUILD_READ(MatmulDescCreate);
  DSBUILD_READ(MatmulDescDestroy);
  DSBUILD_READ(MatmulDescSetAttribute);
  DSBUILD_READ(MatrixLayoutCreate);
  DSBUILD_READ(MatrixLayoutDestroy);
  DSBUILD_READ(MatmulPreferenceCreate);
  DSBUILD_READ(MatmulPreferenceDestroy);
  DSBUILD_READ(MatmulPreferenceSetAttribute);
  DSBUILD_READ(MatmulAlgoGetHeuristic);
  DSBUILD_READ(Matmul);
#undef DSBUILD_READ
  if (!missing.empty()) return {nullptr, "cuBLASLt has no " + missing};
  library.path = file_of(reinterpret_cast<const void*>(library.Matmul));
  return {&library, {}};
}

}  // namespace

const Found& find() {
  static const Found& found = *new Found(open());
  return found;
}

}  // namespace dsbuild::ops::cublaslt
