// Makes parts that several JSON documents share.
#pragma once

#include "base/json.h"
#include "report/report.h"

namespace dsbuild {

// {"schema":1,"dsbuild":"0.3.0"}: the start of every document.
Json json_document();
Json message_json(const Message& message);
Json error_json(const Error& error);
Json warnings_json(const std::vector<Warning>& warnings);
Json remote_uses_json(const MirrorUses& uses);
Json gencodes_json(const ArchSet& set);
Json findings_json(const std::vector<Finding>& findings);
Json rejected_json(const std::vector<RejectedToolkit>& rejected);
// "native", "generic", "none"; for code that a driver compiles, its kind: "ptx", "spirv".
std::string runs_word(Runs runs, const std::optional<Target>& by);
// How one GPU, or each of several, runs the images.
Json coverage_json(const Coverage& one);
Json coverage_json(const std::vector<Coverage>& coverage);
Json gate_json(const Verdict& verdict);
Json toolkit_json(const Toolkit& toolkit);
Json timing_analysis_json(const Timings& timings);
Json cache_uses_json(const CacheUses& uses);
// One line with a line break; bytes that are not UTF-8 are replaced.
Json kernels_json(const std::vector<OpKernels>& kernels);
std::string json_line(const Json& json);

}  // namespace dsbuild
