#include "ninja/plain_ninja.h"

#include <algorithm>

#include "base/build_layout.h"
#include "base/text.h"
#include "inputs/path_origin.h"
#include "ninja/ninja_file.h"
#include "ninja/quote.h"

namespace dsbuild {
namespace {

constexpr const char* k_rules =
    "ninja_required_version = 1.11\n\n"
    "rule compile\n  command = $command\n  depfile = $out.d\n  deps = gcc\n  description = $out\n\n"
    "rule link\n  command = $command\n  rspfile = $out.rsp\n  rspfile_content = $in_newline\n"
    "  description = $out\n\n"
    "rule make\n  command = $command\n  description = $out\n\n";

std::string build_line(const std::string& output, const char* rule, const std::vector<std::string>& inputs,
                       const std::vector<std::string>& implicit) {
  return "build " + ninja_path(output) + ": " + rule + ninja_paths(inputs) +
         (implicit.empty() ? "" : " |" + ninja_paths(implicit)) + "\n";
}

// Without the temporary, which an action of dsbuild's renames.
std::vector<std::string> own_command(const BuildPlan& plan, const Edge& edge) {
  std::vector<std::string> argv = plain_argv(plan, edge);
  std::replace(argv.begin(), argv.end(), edge.output + k_temporary_end, edge.output);
  return argv;
}

// Files that the plan writes, and that compilers read: small headers.
bool is_header(const std::string& path) {
  return path.starts_with(std::string(k_headers_folder) + "/") && path.ends_with(".h");
}

std::vector<std::string> made_inputs(const Edge& edge) {
  std::vector<std::string> inputs;
  std::copy_if(edge.implicit_inputs.begin(), edge.implicit_inputs.end(), std::back_inserter(inputs),
               [](const std::string& input) { return !input.starts_with("tools/"); });
  return inputs;
}

std::string plain_edge_text(const BuildPlan& plan, const Edge& edge) {
  return build_line(edge.output, edge.is_link() ? "link" : "compile", edge.inputs, made_inputs(edge)) +
         "  command = " + ninja_words(own_command(plan, edge)) + "\n";
}

std::string header_text(const PlannedFile& file) {
  std::vector<std::string> lines = split_lines(file.content);
  lines.insert(lines.begin(), {"printf", "%s\\n"});
  return build_line(file.path, "make", {}, {}) + "  command = " + ninja_words(lines) + " > " +
         ninja_word(file.path) + "\n";
}

}  // namespace

Result<std::string> render_plain_ninja(const BuildPlan& sliced, const std::vector<SlicedCommand>& commands) {
  const BuildPlan plan = with_whole_commands(sliced, commands);
  const auto refusals = render_ninja(plan);  // of words that Ninja cannot carry
  if (!refusals) return tl::unexpected<Error>(refusals.error());
  std::string text =
      "# Written by `dsbuild plan --format ninja`: whole commands of the compilers; dsbuild itself builds\n"
      "# faster, and never stale. The folder that it runs in needs, once:\n";
  if (std::ranges::any_of(plan.links, [](const auto& link) { return is_in_roots(link.first); }))
    text += "#   " + shell_join({"mkdir", "-p", k_roots_folder}) + "\n";
  for (const auto& [name, target] : plan.links)
    text += "#   " + shell_join({"ln", "-sfn", target.string(), name}) + "\n";
  text += k_rules;
  for (const PlannedFile& file : plan.files)
    if (is_header(file.path)) text += header_text(file);
  std::string libraries;
  for (const Edge& edge : plan.edges) {
    if (!edge.is_compile() && !edge.is_link()) continue;
    text += plain_edge_text(plan, edge);
    if (edge.kind == EdgeKind::link) libraries += " " + ninja_path(edge.output);
  }
  return text + "\nbuild all: phony" + libraries + "\ndefault all\n";
}

}  // namespace dsbuild
