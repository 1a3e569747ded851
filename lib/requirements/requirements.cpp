#include "requirements/requirements.h"

#include <algorithm>

#include "requirements/hints.h"
#include "requirements/probe.h"
#include "requirements/python.h"

namespace dsbuild {
namespace {

// What makes two requirements the same question. The hint does not: it only words the advice.
using Question = std::vector<std::string>;

Question question_of(const ProbeInput& input) {
  const Requirement& requirement = input.requirement;
  Question question{std::to_string(static_cast<int>(requirement.kind)), requirement.function,
                    requirement.range.text, requirement.root, requirement.package};
  question.insert(question.end(), requirement.subjects.begin(), requirement.subjects.end());
  if (requirement.kind == RequirementKind::header) {
    question.push_back("-I");
    question.insert(question.end(), input.include_dirs.begin(), input.include_dirs.end());
  }
  if (requirement.kind == RequirementKind::library) {
    question.push_back("-L");
    question.insert(question.end(), input.library_dirs.begin(), input.library_dirs.end());
  }
  return question;
}

bool asks_for_torch(const When& when) {
  return when.torch || std::any_of(when.or_else.begin(), when.or_else.end(),
                                   [](const When& other) { return asks_for_torch(other); });
}

bool asks_for_torch(const OpSpec& spec) {
  const auto asks = [](const auto& entries) {
    return std::any_of(entries.begin(), entries.end(),
                       [](const auto& entry) { return asks_for_torch(entry.when); });
  };
  const auto flags_ask = [&](const Flags& flags) {
    return asks(flags.cxx) || asks(flags.nvcc) || asks(flags.link);
  };
  const bool sources_ask =
      asks(spec.sources) || std::any_of(spec.sources.begin(), spec.sources.end(),
                                        [&](const SourceSpec& source) { return flags_ask(source.flags); });
  return sources_ask || asks(spec.needs) || asks(spec.include_dirs) || asks(spec.defines) ||
         flags_ask(spec.flags) || asks(spec.libraries) || asks(spec.requires_) || asks(spec.exports);
}

Version find_torch_version(const Registry& registry, System& system, FactStore& facts) {
  const bool asked = std::any_of(registry.ops.begin(), registry.ops.end(),
                                 [](const OpBuilder& op) { return asks_for_torch(op.spec()); });
  if (!asked) return {};
  const Result<Witnessed> torch = find_torch(system, facts);
  return torch ? parse_version(torch->answer).value_or(Version{}) : Version{};
}

std::vector<std::string> include_dirs(const Registry& registry, const OpBuilder& op,
                                      const WhenContext& context, const Toolkit* toolkit) {
  std::vector<std::string> dirs;
  for (const std::string& dir : op.include_paths(context))
    dirs.push_back((registry.source_root / dir).string());
  if (op.spec().backend == BackendKind::cuda && toolkit != nullptr)
    dirs.push_back(toolkit->include_dir().string());
  return dirs;
}

// The stubs stand for the driver's libraries, which a machine that builds need not have.
std::vector<std::string> library_dirs_of(const OpBuilder& op, const Toolkit* toolkit, const FileReader& files) {
  if (op.spec().backend != BackendKind::cuda || toolkit == nullptr) return {};
  std::vector<std::string> dirs = {toolkit->library_dir.string()};
  const Path stubs = toolkit->library_dir / "stubs";
  if (files.kind(stubs) == FileKind::directory) dirs.push_back(stubs.string());
  return dirs;
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
    for (const Finding& finding : findings->second)
      if (!finding.ok && !finding.fix.empty()) fixes.push_back(finding.fix);
  return fixes;
}

RequirementReport check_requirements(const Settings& settings, const Registry& registry,
                                     const Toolkit* toolkit, const ArchSet& requested,
                                     const HostCompiler* cxx, const Host& host, System& system,
                                     FactStore& facts) {
  RequirementReport report;
  report.torch = find_torch_version(registry, system, facts);
  Pass pass(system);
  for (const OpBuilder& op : registry.ops) {
    WhenContext context;
    context.archs = op.filter_archs(requested).kept;
    if (toolkit != nullptr) context.cuda = toolkit->version;
    context.torch = report.torch;
    context.source = registry.source_version;
    context.cpu = host.machine;
    const std::vector<std::string> dirs = include_dirs(registry, op, context, toolkit);
    const std::vector<std::string> library_dirs = library_dirs_of(op, toolkit, system.files);
    std::vector<Finding>& findings = report.by_op[op.name()];
    for (const Requirement& requirement : op.requirements(context))
      findings.push_back(pass.ask({requirement, settings, toolkit, cxx, host, system, facts, registry.source_root, dirs, library_dirs}));
  }
  return report;
}

}  // namespace dsbuild
