#include <vector>

#include "requirements/probe.h"

namespace dsbuild {
namespace {

std::string subjects_text(const Requirement& requirement) {
  return join(requirement.subjects, " or ");
}

// How a kind is probed, and what to do where it is not met and no op.yaml says it.
struct ProbeRow {
  RequirementKind kind;
  Probe probe;
  std::string (*advice)(const Requirement& requirement);
};

// A new kind is one file, one row here and one in lib/registry/requirement_kinds.cpp.
const std::vector<ProbeRow>& probe_rows() {
  static const std::vector<ProbeRow> rows = {
      {RequirementKind::cuda, probe_cuda,
       [](const Requirement& r) {
         return "install a CUDA toolkit " + r.range.text + ", or name one with --cuda-home";
       }},
      {RequirementKind::header, probe_header,
       [](const Requirement& r) {
         return "install the package that holds " + subjects_text(r) +
                ", or add its folder to CFLAGS (-I...)";
       }},
      {RequirementKind::library, probe_library,
       [](const Requirement& r) {
         return "install the development package of lib" + subjects_text(r) +
                ", or add its folder to LDFLAGS (-L...)";
       }},
      {RequirementKind::folder, probe_folder,
       [](const Requirement& r) {
         return "install what has its headers in " + subjects_text(r) +
                (r.in.empty() ? "" : " for the Python in use, or name another with --python");
       }},
      {RequirementKind::command, probe_command,
       [](const Requirement& r) { return "install " + subjects_text(r) + " and put it on PATH"; }},
      {RequirementKind::cpu_feature, probe_cpu_feature,
       [](const Requirement& r) { return "build on a machine whose CPU has " + subjects_text(r); }},
      {RequirementKind::module, probe_module,
       [](const Requirement& r) {
         return "install the module " + subjects_text(r) +
                " for the Python in use, or name another with --python";
       }},
      {RequirementKind::tvm_ffi, probe_tvm_ffi,
       [](const Requirement& r) {
         return "install Python's apache-tvm-ffi " + r.range.text +
                " with pip, or set TVM_FFI_HOME to a folder that holds include/tvm and lib/libtvm_ffi.so";
       }},
      {RequirementKind::torch, probe_torch,
       [](const Requirement& r) {
         return "install torch " + r.range.text + " for the Python in use, or name another with --python";
       }},
      {RequirementKind::cutlass, probe_cutlass,
       [](const Requirement& r) {
         return "pip install nvidia-cutlass, or set CUTLASS_PATH to a checkout of CUTLASS " + r.range.text;
       }},
      {RequirementKind::source, probe_source,
       [](const Requirement&) {
         return std::string("build from sources in which that is mended (--source), or leave the op out");
       }},
      {RequirementKind::hipify, probe_hipify,
       [](const Requirement&) {
         return std::string(
             "install torch, of whatever kind, for the Python in use, or name another with --python: its "
             "wheel "
             "holds hipify");
       }},
      {RequirementKind::wavefront, probe_wavefront,
       [](const Requirement&) {
         return std::string("build for each size into a bundle of its own: --arch with its GPUs, and --out");
       }},
  };
  return rows;
}

Finding finding_of(const ProbeInput& input, bool ok, std::string why) {
  Finding finding;
  finding.kind = input.requirement.kind;
  finding.subject = input.requirement.text();
  finding.ok = ok;
  finding.why = std::move(why);
  return finding;
}

Finding probe_unknown(const ProbeInput& input) {
  return unmet(input, "dsbuild has no probe for this kind of requirement");
}

}  // namespace

Probe probe_for(RequirementKind kind) {
  for (const ProbeRow& row : probe_rows())
    if (row.kind == kind) return row.probe;
  return probe_unknown;
}

std::string advice_for(const Requirement& requirement) {
  for (const ProbeRow& row : probe_rows())
    if (row.kind == requirement.kind) return row.advice(requirement);
  return {};
}

Finding met(const ProbeInput& input, std::string why) {
  return finding_of(input, true, std::move(why));
}

Finding unmet(const ProbeInput& input, std::string why, std::string fix) {
  Finding finding = finding_of(input, false, std::move(why));
  finding.fix = std::move(fix);
  return finding;
}

Interpreter interpreter_of(const ProbeInput& input) {
  return {input.settings.python.value, input.system, input.facts};
}

Finding no_compiler(const ProbeInput& input) {
  return unmet(input, "no C++ compiler found", "install g++ or clang++, or name one in CXX");
}

const std::string& subject_of(const ProbeInput& input) {
  static const std::string none;
  return input.requirement.subjects.empty() ? none : input.requirement.subjects.front();
}

std::string macro_value(const std::string& header, const std::string& name) {
  for (const std::string& line : split_lines(header)) {
    const std::vector<std::string> words = split(line, " \t");
    if (words.size() >= 3 && words[0] == "#define" && words[1] == name) return words[2];
  }
  return {};
}

}  // namespace dsbuild
