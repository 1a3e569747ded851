// A CUDA source with a header, its parts by their names.
#pragma once

#include "fakes/action_world.h"

namespace dsbuild {

inline const Args k_device_tools = {"cpp", "cicc", "ptxas"}, k_front_tools = {"cpp", "cudafe++"}, k_nothing;
inline const std::string k_kernel = "__global__ void k() { 1 }\n", k_host_code = "int host;\n";
inline const Args k_parts = {"front", "compute_80", "compute_90", "host", "fatbin"};

inline const std::string k_named = "THRUST_300001_SM___CUDA_ARCH_LIST___NS";

struct SliceWorld : ActionWorld {
  explicit SliceWorld(const std::string& text = k_kernel + k_host_code,
                      const std::string& header = "int header;\n") {
    source("a.h", header);
    write(text);
  }
  // The source, which includes its header first.
  void write(const std::string& text) { source("a.cu", "#include \"a.h\"\n" + text); }
  void plan_for(const std::string& its_archs) {
    archs = its_archs;
    plan_unit("adam");
  }
  Ran run_part(const std::string& part) { return run(slice(part)); }
  std::string ptx() const { return files.bytes(unit() + ".compute_80.ptx"); }
  std::string cubin() const { return files.bytes(unit() + ".compute_80.cubin"); }
};

inline void run_all(SliceWorld& world) {
  for (const std::string& part : k_parts)
    REQUIRE(world.run_part(part).code == 0);
}

// Of a build of the same sources for the same archs without a cache.
inline std::vector<std::string> made_from_scratch(const SliceWorld& as, const std::string& part) {
  SliceWorld world;
  world.adapt = as.adapt;
  world.archs = as.archs;
  world.cache = "";
  for (const char* name : {"a.cu", "a.h"})
    world.source(name, as.files.bytes(std::string("pack/") + name));
  world.enter("/home/ann");
  if (part == "host") REQUIRE(world.run_part("front").code == 0);
  if (part == "host") REQUIRE(world.run_part("compute_90").code == 0);
  REQUIRE(world.run_part(part).code == 0);
  return world.bytes_of(world.slice(part));
}

inline void add_line_information(StepFile& step) {
  if (!step.part.starts_with("compute_")) return;
  step.commands.front().insert(step.commands.front().begin() + 1, "-generate-line-info");
  step.positions = KeptPositions::device_lines;
}

}  // namespace dsbuild
