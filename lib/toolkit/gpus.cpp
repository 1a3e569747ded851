#include <algorithm>

#include "arch/nvidia.h"
#include "base/text.h"
#include "toolkit/amd_gpus.h"
#include "toolkit/intel_gpus.h"
#include "toolkit/toolkit.h"

namespace dsbuild {
namespace {

// "9.0, 580.65.06, NVIDIA H100 80GB HBM3"; nullopt for a GPU whose CC nvidia-smi does not know.
std::optional<Gpu> parse_gpu(const std::string& line) {
  const std::vector<std::string> fields = split(line, ",");
  const auto version = fields.size() < 3 ? std::nullopt : parse_version(trim(fields[0]));
  if (!version || version->parts.size() != 2) return std::nullopt;
  return Gpu{NvidiaTarget{{version->major(), version->minor()}}, trim(printable(fields[2])),
             trim(printable(fields[1]))};
}

std::vector<Gpu> nvidia_gpus(System& system) {
  const auto answer = system.processes.run(
      {{"nvidia-smi", "--query-gpu=compute_cap,driver_version,name", "--format=csv,noheader"},
       system.environment,
       {},
       std::chrono::seconds(30),
       false,
       true});
  std::vector<Gpu> gpus;
  if (!answer || !answer->ok()) return gpus;
  for (const std::string& line : split_lines(answer->out))
    if (const auto gpu = parse_gpu(line)) gpus.push_back(*gpu);
  return gpus;
}

}  // namespace

std::vector<Gpu> find_gpus(System& system) {
  std::vector<Gpu> gpus = nvidia_gpus(system);
  for (const AmdGpu& gpu : find_amd_gpus(system.files))
    gpus.push_back({gpu.arch, gpu.name, gpu.driver});
  for (const IntelGpu& gpu : find_intel_gpus(system.files))
    gpus.push_back({gpu.arch, gpu.name, gpu.driver, gpu.is_integrated});
  std::stable_sort(gpus.begin(), gpus.end(), [](const Gpu& a, const Gpu& b) { return a.arch < b.arch; });
  return gpus;
}

std::vector<Target> archs_to_serve(const std::vector<Gpu>& gpus) {
  const bool any_other =
      std::ranges::any_of(gpus, [](const Gpu& gpu) { return gpu.arch && !gpu.is_integrated; });
  std::vector<Target> archs;
  for (const Gpu& gpu : gpus)
    if (gpu.arch && !(gpu.is_integrated && any_other)) archs.push_back(*gpu.arch);
  return archs;
}

std::vector<Target> archs_of_gpus(const std::vector<Gpu>& gpus) {
  const std::vector<Target> archs = archs_to_serve(gpus);
  const ArchSet sorted(archs.begin(), archs.end());
  return {sorted.begin(), sorted.end()};
}

}  // namespace dsbuild
