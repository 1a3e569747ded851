#include "load/remedies.h"
#include "report/json_parts.h"

namespace dsbuild {

std::string render_loaded(const LoadedOp& loaded) {
  return loaded.library.string() + "\n";
}

std::string render_loaded_json(const LoadedOp& loaded) {
  Json json = json_document();
  json["op"] = loaded.op.name;
  json["pack"] = loaded.manifest.pack;
  json["path"] = loaded.library.string();
  json["module"] = loaded.op.module;
  json["needs_torch"] = loaded.op.runtime && needs_torch(*loaded.op.runtime);
  json["from"] = loaded.from;
  json["archs"] = arch_strings(loaded.op.archs);
  json["exports"] = loaded.op.exports;
  json["remedies"] = Json::object();
  if (loaded.op.runtime)
    for (const auto& [library, remedy] : remedies_of(loaded.op.runtime->libraries))
      json["remedies"][library] = remedy;
  json["coverage"] = coverage_json(loaded.coverage);
  json["passed_over"] = loaded.passed_over;
  json["edges_run"] = loaded.edges_run;
  json["compiles"] = loaded.compiles;
  json["tvm_ffi"] = loaded.manifest.tvm_ffi;
  json["warnings"] = Json::array();
  return json_line(json);
}

}  // namespace dsbuild
