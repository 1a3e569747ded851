// The escapes are those of GitHub's toolkit (packages/core/src/command.ts: escapeData, escapeProperty).
#include <catch2/catch.hpp>

#include "report/report.h"

using namespace dsbuild;

namespace {

const Style k_annotated{.annotate = true};

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
  CHECK(render_annotation("error", message, {}) ==
        "::error file=dir%2C1%3A2/a%25.yaml,line=9,title=dsbuild a%2Cb%3Ac::50%25%0D%0A::error::x\n");
}

TEST_CASE("A failed edge is annotated at the compiler's first error") {
  Edge edge;
  edge.kind = EdgeKind::cuda_compile;
  edge.op = "alpha";
  edge.source = "alpha/a.cu";
  EdgeFailure failure;
  failure.edge = edge;
  failure.first_error = "pack/alpha/a.cu(12): error: no";
  failure.place = {"kernels/alpha/a.cu", 12, 0};
  CHECK(render_annotation(failure, {}) ==
        "::error file=kernels/alpha/a.cu,line=12,title=dsbuild compile alpha%3A alpha/a.cu::"
        "pack/alpha/a.cu(12): error: no\n");
}

TEST_CASE("A file is annotated by its path in the repository, wherever the build was started") {
  const Message message{"a", "kernels/a.cu:3", "no", ""};
  const auto file_in = [&](const Repository& repository) {
    const std::string line = render_annotation("error", message, repository);
    const size_t begin = line.find("file=") + 5;
    return line.substr(begin, line.find(',') - begin);
  };
  CHECK(file_in({"/src", "/src/sub"}) == "sub/kernels/a.cu");
  CHECK(file_in({"/src", "/src"}) == "kernels/a.cu");
  CHECK(file_in({"/other", "/src"}) == "kernels/a.cu");
  CHECK(file_in({}) == "kernels/a.cu");
}

TEST_CASE("What a tool said is shown as it said it, in a group of its op and as one annotation") {
  Edge edge;
  edge.kind = EdgeKind::cuda_slice;
  edge.op = "alpha";
  edge.source = "alpha/a.cu";
  const std::string text = "a.cu(5): warning #177-D: unused\n    int x;\n        ^\n";
  const ToolDiagnostic told{{Severity::warning, {"a.cu", 5, 0}, "#177-D: unused", text}, &edge, {}};
  CHECK(render_diagnostic(told, {}) == text);
  CHECK(
      render_diagnostic(told, {.color = true}) ==
      "\x1b[1ma.cu(5): \x1b[0m\x1b[95mwarning\x1b[0m #177-D: unused\n    int x;\n\x1b[92m        ^\x1b[0m\n");
  CHECK(render_diagnostic(told, k_annotated) ==
        "::group::alpha\n" + text +
            "::warning file=a.cu,line=5,title=dsbuild compile alpha%3A alpha/a.cu::a.cu(5): warning #177-D: "
            "unused%0A    int x;%0A        ^\n::endgroup::\n");
}

TEST_CASE("What GitHub's runner would take for a command is broken up in all text of messages") {
  CHECK(without_commands("::error::x") == ": :error::x");
  CHECK(without_commands("a\n \t::stop-commands::t\n") == "a\n \t: :stop-commands::t\n");
  CHECK(without_commands("\xc2\xa0::error::x") == "\xc2\xa0: :error::x");
  CHECK(without_commands("a ##[error]b") == "a ## [error]b");
  CHECK(without_commands("std::move\n") == "std::move\n");
  const Error error = make_error(Exit::usage, "bad_spec", "op.yaml", "x\n::warning::y", "z\n::add-mask::a");
  CHECK(render_error(error, Style()) ==
        "error[bad_spec]: op.yaml: x\n: :warning::y\n  fix: z\n       : :add-mask::a\n");
  CHECK(render_error(error, k_annotated)
            .ends_with("::error title=dsbuild bad_spec::op.yaml: x%0A::warning::y%0Afix: z%0A"
                       "::add-mask::a\n"));
}
