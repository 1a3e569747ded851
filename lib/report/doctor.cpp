// `dsbuild report`. The layout (columns, dots, [YES]/[NO]/[OKAY]) is ds_report's, so that scripts and eyes
// that know the one read the other; the reasons and archs are ours.
#include <algorithm>
#include <set>

#include "report/json_parts.h"
#include "report/table.h"

namespace dsbuild {
namespace {

constexpr size_t k_name_width = 23;
constexpr size_t k_installed_width = 11;
constexpr size_t k_fact_width = 33;

std::string dots(size_t width, size_t used) {
  return used < width ? std::string(width - used, '.') : "";
}

std::string rule(const Style& style) {
  constexpr size_t k_width = 50;
  return std::string(style.columns == 0 ? k_width : std::min(k_width, style.columns), '-') + "\n";
}

// ds_report's width, where the rest of the row has room behind it.
std::string name_cell(const std::string& name, const Style& style) {
  constexpr size_t k_rest = 21;
  const size_t room = std::max(style.columns, k_rest) - k_rest;
  return name + " " + dots(style.columns == 0 ? k_name_width : std::min(k_name_width, room), name.size()) +
         " ";
}

// ds_report's, or where that leaves no room for the value, in a line of its own.
std::string fact_text(const std::string& name, const std::string& value, const Style& style) {
  constexpr size_t k_begin = k_fact_width + 2, k_least = 30, k_indent = 4;
  if (style.columns == 0 || style.columns >= k_begin + k_least)
    return name + " " + dots(k_fact_width, name.size()) + " " + hanging(value, k_begin, style.columns) + "\n";
  return name + "\n" + std::string(k_indent, ' ') + hanging(value, k_indent, style.columns) + "\n";
}

// Reasons and remedies above a row, as ds_report has them. A remedy that was shown is not repeated.
class Reasons {
 public:
  Reasons(const ReportOptions& options, const Style& style) : options_(options), style_(style) {}

  std::string warning(const std::string& subject, const std::string& what, const std::string& fix) {
    if (options_.hide_errors_and_warnings) return "";
    std::string text =
        style_.warn(" [WARNING] ") + " " + subject + ": " + hanging(what, k_indent, style_.columns);
    if (fix.empty()) return text + "\n";
    if (!shown_.insert(fix).second) return text + " (fix: above)\n";
    return text + "\n" + std::string(k_indent, ' ') + "fix: " + hanging(fix, k_indent + 5, 0) + "\n";
  }

  std::string of_row(const ReportRow& row) {
    std::string text;
    for (const Finding& finding : row.findings)
      text += of_finding(row.op, finding);
    for (const std::string& note : row.notes)
      text += warning(row.op, note, "");
    return text + (row.skipped.empty() ? "" : warning(row.op, row.skipped, ""));
  }

 private:
  static constexpr size_t k_indent = 12;

  std::string of_finding(const std::string& op, const Finding& finding) {
    const std::string said = finding.subject + ": " + finding.why;
    if (finding.ok) return options_.verbose ? style_.good(" [OKAY] ") + "    " + op + ": " + said + "\n" : "";
    std::string text = warning(op, said, finding.fix);
    if (options_.verbose && !text.empty() && !finding.detail.empty())
      text += std::string(k_indent, ' ') +
              hanging(trim(printable(finding.detail)), k_indent, style_.columns) + "\n";
    return text;
  }

  const ReportOptions& options_;
  const Style& style_;
  std::set<std::string> shown_;
};

std::string coverage_text(const std::vector<Coverage>& coverage) {
  std::vector<std::string> parts;
  for (const Coverage& one : coverage)
    parts.push_back(one.gpu.text() + " " + one.text());
  return parts.empty() ? "" : "; on " + join(parts, ", ");
}

std::string by_text(const Installation& installation) {
  return installation.by == "deepspeed" ? "built into DeepSpeed" : "wheel " + installation.name;
}

std::string row_text(const ReportRow& row, const Style& style) {
  const std::string installed = row.installed() ? "[YES]" : "[NO]";
  std::string text = name_cell(row.op, style) +
                     (row.installed() ? style.good(installed) : style.warn(installed)) + " " +
                     dots(k_installed_width, installed.size()) + " " +
                     (row.compatible() ? style.good("[OKAY]") : style.warn("[NO]"));
  if (!row.archs.empty()) text += "  " + arch_text(row.archs) + coverage_text(row.coverage);
  if (row.installed() && row.installed_by[0].by != "bundle")
    text += "  (" + by_text(row.installed_by[0]) + ")";
  for (const std::string& feature : row.features_off)
    text += "; " + feature;
  return text + "\n";
}

std::string operators_text(const Report& report, const ReportOptions& options, const Style& style) {
  Reasons reasons(options, style);
  const std::string line = rule(style);
  std::string text =
      line + "dsbuild op report\n" + line +
      "installed: in the bundle (its archs follow), or in site-packages (the package follows)\n"
      "compatible: this machine has what the op needs to be built\n" +
      line;
  if (report.ninja_error) text += reasons.warning("ninja", report.ninja_error->what, report.ninja_error->fix);
  text += name_cell("ninja", style) + (report.ninja ? style.good("[OKAY]") : style.bad("[FAIL]")) + "\n" +
          line + name_cell("op name", style) + "installed .. compatible\n" + line;
  for (const ReportRow& row : report.ops)
    text += reasons.of_row(row) + row_text(row, style);
  return text;
}

}  // namespace

bool OpCompatibility::compatible() const {
  return skipped.empty() &&
         std::all_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.ok; });
}

std::vector<std::string> OpCompatibility::reasons() const {
  std::vector<std::string> texts;
  for (const Finding& finding : findings)
    if (!finding.ok)
      texts.push_back(finding.subject + ": " + finding.why +
                      (finding.fix.empty() ? "" : " (fix: " + replace_all(finding.fix, "\n", "; ") + ")"));
  if (!skipped.empty()) texts.push_back(skipped);
  return texts;
}

std::string render_report(const Report& report, const ReportOptions& options, const Style& style) {
  std::string text = options.hide_operator_status ? "" : operators_text(report, options, style);
  text += rule(style) + "dsbuild environment:\n";
  for (const auto& [name, value] : environment_facts(report))
    text += fact_text(name, value, style);
  return text;
}

}  // namespace dsbuild
