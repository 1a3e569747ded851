// The escapes are those of GitHub's toolkit (packages/core/src/command.ts: escapeData, escapeProperty).
#include <catch2/catch.hpp>

#include "report/report.h"

using namespace dsbuild;

namespace {

const Style k_annotated{false, true};

}  // namespace

TEST_CASE("An error about a place in a file is annotated there") {
  const Error error{{"bad_key", "ops/a/op.yaml:3:7", "unknown key 'srcs'", "did you mean 'sources'?"},
                    Exit::usage};
  CHECK(render_error(error, k_annotated) ==
        render_error(error, {}) +
            "::error file=ops/a/op.yaml,line=3,col=7,title=dsbuild bad_key::unknown key 'srcs'%0A"
            "fix: did you mean 'sources'?\n");
}

TEST_CASE("A warning about an option has no place and names the option") {
  const Warning message = warning("blank_arch_list", "TORCH_CUDA_ARCH_LIST", "it is set but blank");
  CHECK(render_warning(message, k_annotated) ==
        render_warning(message, {}) +
            "::warning title=dsbuild blank_arch_list::TORCH_CUDA_ARCH_LIST: it is set but blank\n");
}

TEST_CASE("Nothing in a message can end its annotation or begin another") {
  const Message message{"a,b:c", "dir,1:2/a%.yaml:9", "50%\r\n::error::x", ""};
  CHECK(render_annotation("error", message) ==
        "::error file=dir%2C1%3A2/a%25.yaml,line=9,title=dsbuild a%2Cb%3Ac::50%25%0D%0A::error::x\n");
}

TEST_CASE("A failed edge is annotated at the compiler's first error") {
  Edge edge;
  edge.kind = EdgeKind::cuda_compile;
  edge.op = "alpha";
  edge.source = "alpha/a.cu";
  const EdgeFailure failure{
      &edge, "pack/alpha/a.cu(12): error: no", {"kernels/alpha/a.cu", 12, 0}, "/log", "sh", "", ""};
  CHECK(render_annotation(failure) ==
        "::error file=kernels/alpha/a.cu,line=12,title=dsbuild compile alpha%3A alpha/a.cu::"
        "pack/alpha/a.cu(12): error: no\n");
}
