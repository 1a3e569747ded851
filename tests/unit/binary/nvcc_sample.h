// Files that the nvccs of this machine make for tests: that on PATH, and that of dsbuild's own cache.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/text.h"
#include "support/temp_folder.h"

namespace dsbuild::samples {

struct Nvcc {
  Path program;
  int major = 0;
  Path bin() const { return program.parent_path(); }
};

inline std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// stdout of a shell command; "" when it fails.
inline std::string output_of(const std::string& command, const TempFolder& temp) {
  const Path out = temp.path() / "output";
  const int status =
      std::system((command + " > '" + out.string() + "' 2> '" + out.string() + ".err'").c_str());
  return status == 0 ? bytes_of(out) : "";
}

inline std::vector<Nvcc> find_nvccs() {
  const TempFolder temp;
  std::vector<Path> programs = {output_of("command -v nvcc", temp)};
  if (!programs[0].empty()) programs[0] = programs[0].string().substr(0, programs[0].string().size() - 1);
  const std::string cache = environment("XDG_CACHE_HOME");
  const Path home = cache.empty() ? Path(environment("HOME")) / ".cache" : Path(cache);
  programs.push_back(home / "dsbuild/toolkits/11.8/bin/nvcc");
  std::vector<Nvcc> found;
  for (const Path& program : programs) {
    if (!std::filesystem::exists(program)) continue;
    const std::string text = output_of("'" + program.string() + "' --version", temp);
    const size_t release = text.find("release ");
    if (release != std::string::npos) found.push_back({program, std::atoi(text.c_str() + release + 8)});
  }
  return found;
}

// "sm_80 compute_80" -> the -gencode options of an nvcc command line.
inline std::string gencodes(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    const std::string number = name.substr(name.find('_') + 1);
    text += " -gencode=arch=compute_" + number + ",code=" + name;
  }
  return text;
}

constexpr const char* k_one_kernel =
    "__device__ float twice(float x) { return x * 2; }\n"
    "__global__ void k(float* a) { a[threadIdx.x] = twice(a[0]); }\n"
    "extern \"C\" void launch(float* a) { k<<<1, 1>>>(a); }\n";

struct Sample {
  const Nvcc& nvcc;
  TempFolder temp;

  explicit Sample(const Nvcc& one, const std::string& source = k_one_kernel) : nvcc(one) {
    temp.add("a.cu", source);
  }
  // The file that nvcc makes of a.cu.
  Path make(const std::string& name, const std::string& options) const {
    const std::string ccbin = nvcc.major < 12 ? " -ccbin g++-11 -Wno-deprecated-gpu-targets" : "";
    const Path out = temp.path() / name;
    const std::string command = "cd '" + temp.path().string() + "' && PATH='" + nvcc.bin().string() +
                                "':$PATH '" + nvcc.program.string() + "'" + ccbin + " " + options + " -o '" +
                                out.string() + "' a.cu";
    output_of(command, temp);
    INFO(command << "\n" << bytes_of(temp.path() / "output.err"));
    REQUIRE(std::filesystem::exists(out));
    return out;
  }
};

inline const std::vector<Nvcc>& nvccs() {
  static const std::vector<Nvcc> found = find_nvccs();
  if (found.empty()) WARN("skipped: no nvcc on PATH or in the cache");
  return found;
}

}  // namespace dsbuild::samples
