#include "toolkit/visible_gpus.h"

#include "arch/nvidia.h"
#include "base/digest.h"
#include "base/text.h"
#include "sys/shared_library.h"
#include "toolkit/amd_gpus.h"
#include "toolkit/intel_gpus.h"
#include "toolkit/toolkit.h"

namespace dsbuild {
namespace {

// Source: cuda.h (CUresult 0 is success; CUdevice_attribute).
constexpr int k_success = 0;
constexpr int k_cc_major = 75, k_cc_minor = 76;

std::optional<Target> arch_of(const SharedLibrary& driver, int number) {
  const auto get = driver.function<int(int*, int)>("cuDeviceGet");
  const auto attribute = driver.function<int(int*, int, int)>("cuDeviceGetAttribute");
  int device = 0, major = 0, minor = 0;
  const bool is_known = get && attribute && get(&device, number) == k_success &&
                        attribute(&major, k_cc_major, device) == k_success &&
                        attribute(&minor, k_cc_minor, device) == k_success;
  return is_known ? std::optional<Target>(NvidiaTarget{{major, minor}}) : std::nullopt;
}

VisibleGpus ask_driver() {
  VisibleGpus found;
  const auto driver = SharedLibrary::open("libcuda.so.1");
  if (!driver) return found;
  const auto version = driver->function<int(int*)>("cuDriverGetVersion");
  const auto init = driver->function<int(unsigned)>("cuInit");
  const auto count = driver->function<int(int*)>("cuDeviceGetCount");
  int code = 0, number = 0;
  if (version && version(&code) == k_success) found.driver_cuda.parts = {code / 1000, code % 1000 / 10};
  if (!init || init(0) != k_success || !count || count(&number) != k_success) return found;
  for (int i = 0; i < number; ++i)
    if (const auto arch = arch_of(*driver, i)) found.archs.push_back(*arch);
  return found;
}

// Of what the driver's answer depends on.
std::string identity_of(const System& system) {
  std::string text = system.files.read_file("/proc/sys/kernel/random/boot_id").value_or("") +
                     system.files.read_file("/proc/driver/nvidia/version").value_or("no driver");
  for (const auto& [name, value] : system.environment)
    if (name.starts_with("CUDA_") || name.starts_with("NVIDIA_") || name == "LD_LIBRARY_PATH")
      text += "\n" + name + "=" + value;
  return sha256(text);
}

std::string render(const VisibleGpus& gpus) {
  std::vector<std::string> words = {gpus.driver_cuda.empty() ? "none" : gpus.driver_cuda.text()};
  for (const Target& arch : gpus.archs)
    words.push_back(arch.text());
  return join(words, " ");
}

std::optional<VisibleGpus> parse_gpus(const std::string& text) {
  const std::vector<std::string> words = split(text, " ");
  if (words.empty()) return std::nullopt;
  VisibleGpus gpus;
  gpus.driver_cuda = parse_version(words.front()).value_or(Version{});
  for (size_t i = 1; i < words.size(); ++i) {
    const auto arch = parse_target(words[i]);
    if (!arch) return std::nullopt;
    gpus.archs.push_back(*arch);
  }
  return gpus;
}

VisibleGpus cuda_gpus(const System& system, FactStore& facts) {
  const std::string identity = identity_of(system);
  const std::string key = "visible GPUs " + identity;  // of each choice of GPUs
  if (const auto known = facts.find(key, identity))
    if (const auto gpus = parse_gpus(*known)) return *gpus;
  const VisibleGpus gpus = ask_driver();
  // A driver that is just being loaded answers otherwise in a moment.
  if (!gpus.archs.empty()) facts.put(key, identity, render(gpus));
  return gpus;
}

}  // namespace

VisibleGpus find_visible_gpus(const Settings& settings, const System& system, FactStore& facts) {
  VisibleGpus gpus = cuda_gpus(system, facts);
  std::vector<Gpu> all;
  for (const Target& arch : gpus.archs)
    all.push_back({.arch = arch});
  for (const AmdGpu& gpu : visible_amd_gpus(settings, system.files))
    all.push_back({.arch = gpu.arch});
  for (const IntelGpu& gpu : visible_intel_gpus(settings, system.files))
    all.push_back({.arch = gpu.arch, .is_integrated = gpu.is_integrated});
  gpus.archs = archs_to_serve(all);
  return gpus;
}

}  // namespace dsbuild
