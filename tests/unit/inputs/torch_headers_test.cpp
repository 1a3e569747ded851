#include "inputs/torch_headers.h"

#include <catch2/catch.hpp>

#include "fakes/fake_file_system.h"

using namespace dsbuild;

TEST_CASE("torch's headers: by their paths") {
  CHECK(is_torchs_header(
      "/venv/lib/python3.11/site-packages/torch/include/torch/csrc/api/include/torch/all.h"));
  CHECK(is_torchs_header("/opt/src/pytorch/aten/src/ATen/Tensor.h"));
  // A folder that happens to have the name.
  CHECK_FALSE(
      is_torchs_header("/cache/torch/venv/lib/python3.11/site-packages/tvm_ffi/include/tvm/ffi/any.h"));
  CHECK_FALSE(is_torchs_header("/usr/include/c++/12/vector"));
}

TEST_CASE("torch's headers: a source reaches them through the project's own headers") {
  FakeFileSystem files;
  const auto write = [&](const char* file, const char* text) {
    files.add_file(Path("/pack/src") / file, text);
  };
  write("direct.cu", "#include <torch/extension.h>\n");
  write("tensor.cu", "#include <ATen/ATen.h>\n");
  write("core.cu", "#include <c10/util/Half.h>\n");
  write("beside.cu", "#include \"sub/common.h\"\n");
  write("sub/common.h", "#include \"more.h\"\n");
  write("sub/more.h", "#include <torch/types.h>\n");
  write("folder.cu", "#include <shared.h>\n");
  write("include/shared.h", "#include \"../sub/more.h\"\n");
  write("circle.cu", "#include \"circle.h\"\n");
  write("circle.h", "#include \"circle.h\"\n#include \"circle.cu\"\n#include <vector>\n");
  write("comment.cu", "// torch/extension.h is not for this one\n__global__ void run() {}\n");
  write("outside.cu", "#include \"../../other/a.h\"\n");
  write("stable.cu",
        "#include <torch/csrc/stable/tensor.h>\n#include <torch/headeronly/core/ScalarType.h>\n");
  write("beside_stable.cu", "#include <torch/csrc/stable/tensor.h>\n#include \"sub/common.h\"\n");
  files.add_file("/other/a.h", "#include <torch/extension.h>\n");
  TorchIncludes includes("/pack/src", files);
  const auto reaches = [&](const char* source, const std::vector<Path>& folders = {}) {
    return includes.use(source, folders) == TorchUse::all;
  };
  CHECK(reaches("direct.cu"));
  CHECK(reaches("tensor.cu"));
  CHECK(reaches("core.cu"));
  CHECK(reaches("beside.cu"));
  CHECK(reaches("folder.cu", {"include"}));
  CHECK(reaches("folder.cu", {"/pack/src/include"}));
  CHECK_FALSE(reaches("folder.cu"));
  CHECK_FALSE(reaches("circle.cu"));
  CHECK_FALSE(reaches("comment.cu"));
  CHECK_FALSE(reaches("outside.cu"));
  CHECK_FALSE(reaches("not_there.cu"));
  CHECK(includes.use("circle.cu", {}) == TorchUse::none);
  CHECK(includes.use("stable.cu", {}) == TorchUse::interface);
  CHECK(includes.use("beside_stable.cu", {}) == TorchUse::all);
}
