#include "requirements/requirements.h"

#include <algorithm>
#include <functional>

#include "arch/amd.h"
#include "arch/nvidia.h"
#include "requirements/hints.h"
#include "requirements/probe.h"
#include "requirements/rocm.h"

namespace dsbuild {
namespace {

// What makes two requirements the same question. The hint does not: it only words the advice.
using Question = std::vector<std::string>;

Question question_of(const ProbeInput& input) {
  const Requirement& requirement = input.requirement;
  Question question{std::to_string(static_cast<int>(requirement.kind)),
                    requirement.function,
                    requirement.range.text,
                    requirement.root,
                    requirement.package,
                    requirement.in,
                    requirement.language,
                    requirement.lacks,
                    requirement.because,
                    input.toolkit ? input.toolkit->home.string() : ""};
  question.insert(question.end(), requirement.subjects.begin(), requirement.subjects.end());
  if (requirement.kind == RequirementKind::header) {
    question.push_back("-I");
    question.insert(question.end(), input.include_dirs.begin(), input.include_dirs.end());
  }
  if (requirement.kind == RequirementKind::library) {
    question.push_back("-L");
    question.insert(question.end(), input.library_dirs.begin(), input.library_dirs.end());
  }
  if (requirement.kind == RequirementKind::wavefront) question.push_back(target_names(input.archs));
  if (requirement.kind == RequirementKind::torch)
    question.insert(question.end(), {input.op.module, std::to_string(static_cast<int>(input.op.backend))});
  return question;
}

std::vector<std::string> include_dirs(const Registry& registry, const OpBuilder& op,
                                      const WhenContext& context, const Toolkit* toolkit) {
  std::vector<std::string> dirs;
  for (const std::string& dir : op.include_paths(context))
    dirs.push_back((registry.source_root / dir).string());
  if (vendor_of(op.spec()) && toolkit) dirs.push_back(toolkit->include_dir().string());
  return dirs;
}

// The stubs stand for the driver's libraries, which a machine that builds need not have.
std::vector<std::string> library_dirs_of(const OpBuilder& op, const Toolkit* toolkit) {
  if (!vendor_of(op.spec()) || !toolkit) return {};
  std::vector<std::string> dirs = {toolkit->library_dir.string()};
  if (!toolkit->stubs_dir.empty()) dirs.push_back(toolkit->stubs_dir.string());
  return dirs;
}

// What the op keeps of what is asked for of its vendor's.
FilteredArchs filter_asked(const OpBuilder& op, const ArchSet& asked) {
  const Vendor* vendor = vendor_of(op.spec());
  return op.filter_archs(vendor ? targets_of(asked, *vendor) : asked);
}

// One pass over all ops; each question is put to the machine once.
class Pass {
 public:
  explicit Pass(const System& system) : tool_(package_tool(system)) {}

  Finding ask(const ProbeInput& input) {
    const Question question = question_of(input);
    auto known = answers_.find(question);
    if (known == answers_.end())
      known = answers_.emplace(question, probe_for(input.requirement.kind)(input)).first;
    Finding finding = known->second;
    if (!finding.ok && finding.fix.empty()) finding.fix = fix_for(input.requirement, tool_);
    return finding;
  }

 private:
  std::string tool_;
  std::map<Question, Finding> answers_;
};

// Folders that the op requires, wherever in its list they stand: a header that it requires may lie there.
void add_required_folders(const std::vector<Requirement>& requirements,
                          const std::function<Finding(const Requirement&)>& ask,
                          std::vector<std::string>& dirs) {
  for (const Requirement& requirement : requirements) {
    if (requirement.kind != RequirementKind::folder) continue;
    const Finding finding = ask(requirement);
    dirs.insert(dirs.end(), finding.usage.include_dirs.begin(), finding.usage.include_dirs.end());
  }
}

}  // namespace

bool RequirementReport::met(const std::string& op) const {
  return reasons(op).empty();
}

std::vector<std::string> RequirementReport::reasons(const std::string& op) const {
  std::vector<std::string> failed;
  const auto findings = by_op.find(op);
  if (findings == by_op.end()) return {"nothing is known of op " + op};
  for (const Finding& finding : findings->second) {
    if (!finding.ok) failed.push_back(finding.why);
  }
  return failed;
}

std::vector<std::string> RequirementReport::fixes(const std::string& op) const {
  std::vector<std::string> fixes;
  if (const auto findings = by_op.find(op); findings != by_op.end())
    for (const Finding& finding : findings->second) {
      const bool is_new = std::find(fixes.begin(), fixes.end(), finding.fix) == fixes.end();
      if (!finding.ok && !finding.fix.empty() && is_new) fixes.push_back(finding.fix);
    }
  return fixes;
}

RequirementReport check_requirements(const RequirementInput& input, System& system, FactStore& facts) {
  RequirementReport report;
  if (input.torch) report.torch = *input.torch;
  report.cpu_level = input.cpu_level;
  if (const Toolkit* hip = input.toolkits.of(amd()))
    report.rocm = find_rocm_version(*hip, report.torch, system.files);
  Pass pass(system);
  for (const OpBuilder& op : input.registry.ops) {
    const ArchSet asked = input.settings.selection.archs_of(op.spec().op_name(), input.requested);
    const Toolkit* toolkit = toolkit_of(input.toolkits, op.spec());
    const WhenContext context =
        when_context(input.registry, report, toolkit, input.host.machine, filter_asked(op, asked).kept);
    std::vector<std::string> dirs = include_dirs(input.registry, op, context, toolkit);
    const std::vector<std::string> library_dirs = library_dirs_of(op, toolkit);
    std::vector<Finding>& findings = report.by_op[op.name()];
    if (is_for_others(op.spec(), asked)) continue;  // what it needs is no question then
    const auto ask = [&](const Requirement& requirement) {
      return pass.ask({requirement, op.spec(), input.settings, toolkit, input.cxx, input.host, input.torch,
                       system, facts, input.registry.source_root, dirs, library_dirs, context.archs,
                       input.cxx_identity});
    };
    const std::vector<Requirement> requirements = op.requirements(context);
    add_required_folders(requirements, ask, dirs);
    std::ranges::transform(requirements, std::back_inserter(findings), ask);
  }
  return report;
}

WhenContext when_context(const Registry& registry, const RequirementReport& requirements,
                         const Toolkit* toolkit, const std::string& cpu, ArchSet archs) {
  WhenContext context;
  context.archs = std::move(archs);
  if (toolkit && &toolkit->vendor() == &nvidia()) context.cuda = toolkit->version;
  if (toolkit && &toolkit->vendor() == &amd()) context.rocm = requirements.rocm;
  context.wavefront = common_wave_size(context.archs);
  if (requirements.torch) context.torch = requirements.torch->number();
  context.source = registry.source_version;
  context.cpu = cpu;
  context.accelerator = registry.accelerator;
  context.cpu_level = requirements.cpu_level;
  return context;
}

}  // namespace dsbuild
