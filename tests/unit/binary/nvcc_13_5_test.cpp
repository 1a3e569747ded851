// The reader against nvcc 13.5, with and without --concat. Golden: what cuobjdump 13.5 says of the same file.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "cuobjdump_words.h"
#include "support/sample.h"
#include "support/temp_folder.h"

using namespace dsbuild;
using namespace dsbuild::samples;

namespace {

const std::string k_tile_source = R"(
__device__ float twice(float x) { return x * 2; }
__global__ void k(float* a) { a[threadIdx.x] = twice(a[0]); }
extern "C" void launch(float* a) { k<<<1, 1>>>(a); }
)";

const std::string k_archs =
    " -gencode=arch=compute_75,code=sm_75 -gencode=arch=compute_80,code=[sm_80,compute_80]"
    " -gencode=arch=compute_90a,code=[sm_90a,compute_90a] -gencode=arch=compute_100f,code=sm_100f"
    " -gencode=arch=compute_103a,code=[sm_103a,compute_103a] -gencode=arch=compute_120,code=sm_120";

// What a variable names, else a place below dsbuild's own cache folder.
Path place(const char* variable, const char* in_cache) {
  if (const char* named = std::getenv(variable)) return named;
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  return (cache ? Path(cache) : Path(home ? home : "/nowhere") / ".cache") / "dsbuild" / in_cache;
}

struct Tools {
  Path nvcc = place("DSBUILD_CUDA_13_5", "toolkits/13.5/nvidia/cu13") / "bin/nvcc";
  Path cuobjdump = place("DSBUILD_CUOBJDUMP", "cuobjdump/13.5.37/nvidia/cu13/bin/cuobjdump");
  bool are_there() const {
    for (const Path& one : {nvcc, cuobjdump}) {
      if (std::filesystem::exists(one)) continue;
      WARN("skipped: there is no " << one.string());
      return false;
    }
    return true;
  }
};

class Workshop {
 public:
  explicit Workshop(const Tools& tools) : tools_(tools) { temp_.add("a.cu", k_tile_source); }

  // The file that nvcc makes of a.cu.
  Path make(const std::string& name, const std::string& options) const {
    const std::string nvcc = tools_.nvcc.string();
    run("cd '" + temp_.path().string() + "' && PATH='" + tools_.nvcc.parent_path().string() + "':$PATH '" +
        nvcc + "' " + options + k_archs + " -o " + name + " a.cu");
    return temp_.path() / name;
  }

  // Checks that the reader and cuobjdump say the same, and gives it.
  CodeList agreed(const Path& file) const {
    const CodeList golden =
        said_by_cuobjdump(run("'" + tools_.cuobjdump.string() + "' -all '" + file.string() + "'"));
    const std::string bytes = bytes_of(file);
    const auto binary = read_binary(as_bytes_of(bytes), file.string());
    INFO(file.string() << (binary ? "" : ": " + binary.error().what));
    REQUIRE(binary);
    REQUIRE_FALSE(golden.empty());
    CHECK(in_canonical_order(found_by_reader(*binary)) == in_canonical_order(golden));
    return found_by_reader(*binary);
  }

 private:
  std::string run(const std::string& command) const {
    const Path out = temp_.path() / "output";
    const int status = std::system(("{ " + command + "; } > '" + out.string() + "' 2>&1").c_str());
    INFO(command << "\n" << bytes_of(out));
    REQUIRE(status == 0);
    return bytes_of(out);
  }

  const Tools& tools_;
  TempFolder temp_;
};

CodeList without_compression(CodeList list) {
  for (std::string& one : list)
    one = replace_all(one, " compressed", "");
  return in_canonical_order(list);
}

}  // namespace

TEST_CASE("Files of nvcc 13.5 with and without --concat hold the images that cuobjdump 13.5 says", "[nvcc]") {
  const Tools tools;
  if (!tools.are_there()) return;
  const Workshop workshop(tools);
  const CodeList asked = {"elf sm_100f", "elf sm_103a", "elf sm_120", "elf sm_75", "elf sm_80",
                          "elf sm_90a",  "ptx sm_103a", "ptx sm_80",  "ptx sm_90a"};
  const std::string library = "-shared -Xcompiler=-fPIC -cudart=none";
  const std::vector<std::string> all_options = {
      "-fatbin", "-fatbin --concat",      "-fatbin --concat --compress-mode=speed",
      "-c",      "-c --concat -lineinfo", "-c -rdc=true --concat",
      library,   library + " --concat"};
  for (const std::string& options : some_of(all_options, 3)) {
    INFO(options);
    const CodeList agreed = workshop.agreed(workshop.make("a.bin", options));
    if (options.starts_with(library)) continue;  // nvcc's own link adds images
    CHECK(without_compression(agreed) == asked);
    const auto is_compressed = [](const std::string& one) { return one.ends_with(" compressed"); };
    if (options.find("--concat") != std::string::npos) CHECK(std::ranges::all_of(agreed, is_compressed));
  }
}
