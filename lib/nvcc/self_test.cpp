#include "nvcc/self_test.h"

#include <map>

#include "base/build_layout.h"
#include "nvcc/compare_objects.h"
#include "nvcc/line_normalization.h"
#include "nvcc/step_file.h"

namespace dsbuild {
namespace {

constexpr const char* k_source = "pack/probe.cu";
// LIST: of archs. Names that have it are exchanged (lib/nvcc/arch_tagged_symbols.h).
constexpr const char* k_probe = R"(
namespace {
__device__ int inner_variable = 3;
__constant__ float inner_table[4] = {1, 2, 3, 4};
__global__ void inner_kernel(float* out) { out[threadIdx.x] = inner_table[threadIdx.x & 3] + inner_variable; }
}
template <class T> __host__ __device__ const char* name_of(T) { return __PRETTY_FUNCTION__; }
template <class T, int N>
__global__ void scale(T* out, T by) {
  __shared__ T shared[32];
  static __device__ int calls;
  auto mark = [](int x) { __shared__ int marks[32]; marks[threadIdx.x] = x; return marks[x & 31]; };
  shared[threadIdx.x] = by + mark(++calls) + name_of(mark)[0];
  by = shared[threadIdx.x ^ 1];
#if __CUDA_ARCH__ >= 800
  out[threadIdx.x] *= by + N;
#else
  out[threadIdx.x] *= by - N;
#endif
}
namespace THRUST_1_SM_LIST_NS { template <class T> struct Part { T x; }; namespace { __device__ int inner_variable = 5; } }
namespace CUB_1_SM_LIST {
struct Policy {};
template <class P, class T> __global__ void reduce(T* out) {
  static __shared__ THRUST_1_SM_LIST_NS::Part<T> part[32];
  part[threadIdx.x].x = out[threadIdx.x] + THRUST_1_SM_LIST_NS::inner_variable;
  __syncthreads();
  *out = part[threadIdx.x ^ 3].x;
}
}
__managed__ int outer_variable;
struct Later { Later() { outer_variable = 1; } } later;
extern "C" int dsbuild_probe(float* data, double* more) {
  inner_kernel<<<1, 32>>>(data);
  CUB_1_SM_LIST::reduce<CUB_1_SM_LIST::Policy><<<1, 32>>>(data);
  CUB_1_SM_LIST::reduce<THRUST_1_SM_LIST_NS::Part<int>><<<1, 32>>>(more);
  scale<float, 2><<<1, 32>>>(data, 2.0f);
  scale<double, 3><<<1, 32>>>(more, 2.0);
  static struct { Later one, two; } local;
  auto count = [](int by) { static int calls; return calls += by; };
  if (name_of(count)[0] == name_of(local)[0]) return count(2);
  return inner_kernel == nullptr;
}
)";

using Failure = std::string;  // "" is none

std::string first_line(const std::string& said) {
  const std::vector<std::string> lines = split_lines(trim(printable(said)));
  return lines.empty() ? "it fails without a word" : lines.front();
}

Args with(Args words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more);
  return words;
}

class SelfTest {
 public:
  SelfTest(const Args& nvcc, const NvccCommands& commands, const Roots& roots, const Path& folder,
           Path program, const System& system, const std::stop_token& stop)
      : nvcc_(nvcc),
        commands_(commands),
        roots_(roots),
        probe_(replace_all(k_probe, "LIST", replace_all(commands.arch_list, ",", "_"))),
        whole_(folder / "whole"),
        sliced_(folder / "sliced"),
        moved_(folder / "moved"),
        program_(std::move(program)),
        system_(system),
        stop_(stop),
        files_(system.files) {}

  Failure run() {
    for (const Path& folder : {whole_, sliced_, moved_})
      if (const Failure failure = link_roots(folder); !failure.empty()) return failure;
    if (const Failure failure = compile_whole(); !failure.empty()) return failure;
    if (const Failure failure = compile_slices(sliced_, probe_); !failure.empty()) return failure;
    if (const Failure failure = compare(); !failure.empty()) return failure;
    if (kept_positions(commands_) != KeptPositions::none) return "";
    const std::string moved_probe = replace_all(probe_, "\n", "\n\n// moved\n");
    if (const Failure failure = compile_slices(moved_, moved_probe); !failure.empty()) return failure;
    return compare_moved();
  }

 private:
  Failure run(const Args& argv, const Path& folder) {
    if (stop_.stop_requested()) return "it was told to stop";
    const auto result = system_.processes.run({argv, system_.environment, folder, std::chrono::seconds(300)});
    if (!result) return result.error().what;
    return result->ok() ? "" : first_line(result->out + result->err);
  }

  Failure link_roots(const Path& folder) {
    for (const auto& [name, target] : roots_.links()) {
      const Path link = folder / name;
      if (const auto made = files_.make_directories(link.parent_path()); !made) return made.error().what;
      if (const auto made = files_.make_symlink(target, link); !made) return made.error().what;
    }
    return "";
  }

  Failure write(const Path& file, const std::string& text) {
    if (const auto made = files_.make_directories(file.parent_path()); !made) return made.error().what;
    const auto written = files_.write_file(file, text);
    return written ? "" : file.string() + ": " + written.error().what;
  }

  Failure compile_whole() {
    if (const Failure failure = write(whole_ / k_source, probe_); !failure.empty()) return failure;
    return run(with(nvcc_, {"--keep", "-c", k_source, "-o", std::string(k_any_unit) + ".o"}), whole_);
  }

  Failure compile_slices(const Path& folder, const std::string& probe) {
    const std::string unit = k_any_unit;
    const auto module_id = files_.read_file(whole_ / "probe.module_id");
    if (!module_id) return "nvcc keeps no module id";
    for (const auto& [name, text] :
         std::map<std::string, std::string>{{k_source, probe},
                                            {unit + k_module_id_end, *module_id},
                                            {unit + k_arch_list_end, commands_.arch_list},
                                            {unit + k_folder_in_objects_end, whole_folder()},
                                            {k_nvcc_id_file, "self-test"},
                                            {k_device_id_file, "self-test"}})
      if (const Failure failure = write(folder / name, text); !failure.empty()) return failure;
    for (const StepFile& step : plan_steps(commands_, {}))
      if (const Failure failure = run_step(step, folder); !failure.empty()) return failure;
    return "";
  }

  // As nvcc's tools name it.
  std::string whole_folder() const {
    const auto folder = files_.real_path(whole_);
    return folder ? folder->string() : whole_.string();
  }

  Failure run_step(const StepFile& step, const Path& folder) {
    const std::string file = "step." + step.part;
    if (const Failure failure = write(folder / file, render_step_file(step)); !failure.empty())
      return failure;
    return run({program_.string(), "action", "slice", k_nvcc_id_file, k_any_unit + step.outputs.front(), file,
                "--", k_source},
               folder);
  }

  Failure compare() {
    const std::string unit = k_any_unit;
    return objects_differ_by({whole_ / (unit + ".o"), sliced_ / (unit + ".o"), sliced_ / (unit + ".host.o")},
                             {}, files_);
  }

  // Keys of results leave out where lines stand (lib/nvcc/line_normalization.h).
  Failure compare_moved() {
    for (const char* end : {".o", ".host.o"}) {
      const std::string object = k_any_unit + std::string(end);
      const auto before = files_.read_file(sliced_ / object), after = files_.read_file(moved_ / object);
      if (!before || !after || *before != *after) return object + " differs where only lines have moved";
    }
    return "";
  }

  const Args& nvcc_;
  const NvccCommands& commands_;
  const Roots& roots_;
  const std::string probe_;
  const Path whole_, sliced_, moved_, program_;
  const System& system_;
  const std::stop_token& stop_;
  FileSystem& files_;
};

}  // namespace

std::string slices_differ_by(const Args& nvcc, const NvccCommands& commands, const Roots& roots,
                             const Path& folder, const Path& program, System system,
                             const std::stop_token& stop) {
  (void)system.files.remove_all(folder);
  const std::string difference = SelfTest(nvcc, commands, roots, folder, program, system, stop).run();
  (void)system.files.remove_all(folder);
  return difference;
}

}  // namespace dsbuild
