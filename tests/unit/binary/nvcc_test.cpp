// The reader against what nvcc really writes. Golden: the -gencode pairs asked for, and cuobjdump's listing.
// Every nvcc that is found is used: on PATH, and dsbuild's own cache. Without one nothing is tested here.
#include <catch2/catch.hpp>
#include <set>

#include "arch/nvidia.h"
#include "binary/image.h"
#include "nvcc_sample.h"

using namespace dsbuild;
using namespace dsbuild::samples;

namespace {

std::vector<std::string> archs_for(const Nvcc& nvcc) {
  if (nvcc.major < 12) return {"sm_35", "sm_70", "sm_80", "compute_80", "sm_90", "compute_90"};
  return {"sm_75",   "sm_80",        "compute_80", "sm_90",        "sm_90a",  "compute_90a", "sm_100a",
          "sm_100f", "compute_100a", "sm_103a",    "compute_103a", "sm_120f", "sm_121a",     "compute_121a"};
}

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
