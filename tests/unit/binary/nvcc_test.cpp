// The reader against what nvcc really writes. Golden: the -gencode pairs asked for, and cuobjdump's listing.
// Every nvcc that is found is used: on PATH, and dsbuild's own cache. Without one nothing is tested here.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <set>

#include "arch/nvidia.h"
#include "base/text.h"
#include "binary/image.h"
#include "support/temp_folder.h"

using namespace dsbuild;

namespace {

struct Nvcc {
  Path program;
  int major = 0;
  Path bin() const { return program.parent_path(); }
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// stdout of a shell command; "" when it fails.
std::string output_of(const std::string& command, const TempFolder& temp) {
  const Path out = temp.path() / "output";
  const int status =
      std::system((command + " > '" + out.string() + "' 2> '" + out.string() + ".err'").c_str());
  return status == 0 ? bytes_of(out) : "";
}

std::vector<Nvcc> find_nvccs() {
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
std::string gencodes(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    const std::string number = name.substr(name.find('_') + 1);
    text += " -gencode=arch=compute_" + number + ",code=" + name;
  }
  return text;
}

std::vector<std::string> archs_for(const Nvcc& nvcc) {
  if (nvcc.major < 12) return {"sm_35", "sm_70", "sm_80", "compute_80", "sm_90", "compute_90"};
  return {"sm_75",   "sm_80",        "compute_80", "sm_90",        "sm_90a",  "compute_90a", "sm_100a",
          "sm_100f", "compute_100a", "sm_103a",    "compute_103a", "sm_120f", "sm_121a",     "compute_121a"};
}

struct Sample {
  const Nvcc& nvcc;
  TempFolder temp;

  explicit Sample(const Nvcc& one) : nvcc(one) {
    temp.add("a.cu",
             "__device__ float twice(float x) { return x * 2; }\n"
             "__global__ void k(float* a) { a[threadIdx.x] = twice(a[0]); }\n"
             "extern \"C\" void launch(float* a) { k<<<1, 1>>>(a); }\n");
  }
  // The file that nvcc makes of a.cu.
  Path make(const std::string& name, const std::string& options) const {
    const std::string ccbin = nvcc.major < 12 ? " -ccbin g++-11 -Wno-deprecated-gpu-targets" : "";
    const Path out = temp.path() / name;
    const std::string command = "cd '" + temp.path().string() + "' && PATH='" + nvcc.bin().string() +
                                "':$PATH '" + nvcc.program.string() + "'" + ccbin + " " + options + " -o '" +
                                out.string() + "' a.cu 2>&1";
    output_of(command, temp);
    INFO(command << "\n" << bytes_of(temp.path() / "output"));
    REQUIRE(std::filesystem::exists(out));
    return out;
  }
};

BinaryFile read(const Path& file) {
  const auto binary = read_binary(as_bytes_of(bytes_of(file)), file.string());
  INFO(file);
  REQUIRE(binary);
  return *binary;
}

std::multiset<std::string> names(const BinaryFile& binary) {
  std::multiset<std::string> all;
  for (const DeviceImage& image : binary.images)
    all.insert(image.target.name());
  return all;
}

// cuobjdump's own words: "ELF file    1: a.1.sm_80.cubin", "PTX file    1: a.1.sm_80.ptx". It leaves the f
// out of real code.
std::multiset<std::string> listed_by_cuobjdump(const Path& file, const Sample& sample) {
  const std::string text = output_of("cuobjdump -lelf -lptx '" + file.string() + "'", sample.temp);
  std::multiset<std::string> all;
  for (const std::string& line : split_lines(text)) {
    const std::vector<std::string> parts = split(line, ".");
    if (parts.size() < 3) continue;
    const std::string number = parts[parts.size() - 2].substr(3);
    all.insert((line.starts_with("ELF") ? "sm_" : "compute_") + number);
  }
  return all;
}

std::multiset<std::string> as_cuobjdump_says(const BinaryFile& binary) {
  std::multiset<std::string> all;
  for (DeviceImage image : binary.images) {
    const bool hidden = !image.target.is_virtual() && nvidia_target(image.target).suffix == Suffix::f;
    if (hidden) image.target = image.target.plain();
    all.insert(image.target.name());
  }
  return all;
}

const std::vector<Nvcc>& nvccs() {
  static const std::vector<Nvcc> found = find_nvccs();
  if (found.empty()) WARN("skipped: no nvcc on PATH or in the cache");
  return found;
}

}  // namespace

TEST_CASE("Every image that nvcc was asked for is found, plain and compressed", "[nvcc]") {
  for (const Nvcc& nvcc : nvccs()) {
    const Sample sample(nvcc);
    const std::vector<std::string> archs = archs_for(nvcc);
    const std::multiset<std::string> wanted(archs.begin(), archs.end());
    const std::vector<std::string> modes =
        nvcc.major < 12 ? std::vector<std::string>{"--no-compress", "-Xfatbin -compress-all"}
                        : std::vector<std::string>{"--compress-mode=none", "--compress-mode=size"};
    for (const std::string& mode : modes) {
      INFO(nvcc.program << " " << mode);
      const BinaryFile binary = read(sample.make("a.fatbin", "-fatbin " + mode + gencodes(archs)));
      CHECK(names(binary) == wanted);
      const bool plain = mode == modes.front();
      const auto is_compressed = [](const DeviceImage& image) { return image.compressed; };
      CHECK(std::ranges::none_of(binary.images, is_compressed) == plain);
    }
  }
}

TEST_CASE("An object, its library and cuobjdump agree; nvcc's own link adds an image", "[nvcc]") {
  for (const Nvcc& nvcc : nvccs()) {
    INFO(nvcc.program);
    const Sample sample(nvcc);
    const std::vector<std::string> archs =
        nvcc.major < 12 ? std::vector<std::string>{"sm_70", "sm_80", "compute_80"}
                        : std::vector<std::string>{"sm_80", "sm_90a", "compute_90a", "sm_100f"};
    const Path object = sample.make("a.o", "-c -Xcompiler -fPIC" + gencodes(archs));
    const BinaryFile binary = read(object);
    CHECK(names(binary) == std::multiset<std::string>(archs.begin(), archs.end()));
    CHECK(binary.containers.size() == 1);
    CHECK(std::ranges::binary_search(binary.exports, "launch"));
    const auto second_opinion = listed_by_cuobjdump(object, sample);
    if (!second_opinion.empty()) CHECK(as_cuobjdump_says(binary) == second_opinion);

    const std::string target = nvcc.major < 12 ? "sm_70" : "sm_90a";
    const BinaryFile linked = read(sample.make("a.so", "-shared -Xcompiler -fPIC" + gencodes({target})));
    CHECK(linked.containers.size() == 2);
    CHECK(names(linked).count(target) >= 1);
    CHECK(linked.images.size() == 2);
    CHECK(std::ranges::binary_search(linked.exports, "launch"));
  }
}

TEST_CASE("Relocatable device code, bare cubins and PTX are read", "[nvcc]") {
  for (const Nvcc& nvcc : nvccs()) {
    INFO(nvcc.program);
    const Sample sample(nvcc);
    using Names = std::multiset<std::string>;
    const std::string number = nvcc.major < 12 ? "90" : "90a";
    const std::string real = "sm_" + number;
    const std::string virtual_name = "compute_" + number;
    CHECK(names(read(sample.make("r.o", "-rdc=true -c" + gencodes({"sm_80", real, virtual_name})))) ==
          Names{"sm_80", real, virtual_name});
    CHECK(names(read(sample.make("a.cubin", "-cubin -arch=" + real))) == Names{real});
    CHECK(names(read(sample.make("a.ptx", "-ptx -arch=" + virtual_name))) == Names{virtual_name});
    if (nvcc.major >= 13)
      CHECK(names(read(sample.make("f.cubin", "-cubin -arch=sm_103f"))) == Names{"sm_103f"});
  }
}

TEST_CASE("A real object cut off anywhere, or with any bit of its start flipped, is read or refused",
          "[nvcc]") {
  for (const Nvcc& nvcc : nvccs()) {
    const Sample sample(nvcc);
    const std::string bytes = bytes_of(sample.make("a.o", "-c" + gencodes({"sm_80", "compute_80"})));
    const auto check = [](const std::string& damaged) {
      const auto binary = read_binary(as_bytes_of(damaged), "x");
      return binary.has_value() || !binary.error().what.empty();
    };
    for (size_t length = 0; length < bytes.size(); length += 7)
      CHECK(check(bytes.substr(0, length)));
    for (size_t bit = 0; bit < 4096; ++bit) {
      std::string damaged = bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
      CHECK(check(damaged));
    }
  }
}
