// A probe answers one requirement on this machine. One file each, one table (probes.cpp).
#pragma once

#include <string>
#include <vector>

#include "requirements/requirements.h"

namespace dsbuild {

struct ProbeInput {
  const Requirement& requirement;
  const OpSpec& op;
  const Settings& settings;
  const Toolkit* toolkit;   // may be null
  const HostCompiler* cxx;  // may be null
  const Host& host;
  const Result<Torch>& torch;
  System& system;
  FactStore& facts;
  const Path& source_root;                // of the pack
  std::vector<std::string> include_dirs;  // absolute: the op's, the toolkit's for a CUDA op, and required
                                          // folders
  std::vector<std::string> library_dirs;  // the toolkit's and its stubs', for a CUDA op
  const ArchSet& archs;                   // the requested archs that the op supports
  const std::string& cxx_identity;        // as RequirementInput's
};

using Probe = Finding (*)(const ProbeInput& input);
Probe probe_for(RequirementKind kind);
// The advice for an unmet requirement of this kind whose op.yaml has no hint.
std::string advice_for(const Requirement& requirement);

Finding probe_cuda(const ProbeInput& input);
Finding probe_header(const ProbeInput& input);
Finding probe_library(const ProbeInput& input);
Finding probe_folder(const ProbeInput& input);
Finding probe_command(const ProbeInput& input);
Finding probe_cpu_feature(const ProbeInput& input);
Finding probe_module(const ProbeInput& input);
Finding probe_tvm_ffi(const ProbeInput& input);
Finding probe_torch(const ProbeInput& input);
Finding probe_cutlass(const ProbeInput& input);
Finding probe_source(const ProbeInput& input);
Finding probe_hipify(const ProbeInput& input);
Finding probe_wavefront(const ProbeInput& input);

// What a probe returns. A failed finding's `fix` is left empty where the requirement's hint is the
// right advice; a probe that could not even look sets its own.
Finding met(const ProbeInput& input, std::string why);
Finding unmet(const ProbeInput& input, std::string why, std::string fix = {});

// The Python of --python.
Interpreter interpreter_of(const ProbeInput& input);

// The version of the package in this Python; empty: there is no such package or Python.
Version find_tvm_ffi(const Interpreter& python);

// "no C++ compiler" as a finding.
Finding no_compiler(const ProbeInput& input);

// The one subject of a kind that takes one.
const std::string& subject_of(const ProbeInput& input);

// Pure: the number after "#define NAME" in a header's text; "" if there is none.
std::string macro_value(const std::string& header, const std::string& name);

}  // namespace dsbuild
