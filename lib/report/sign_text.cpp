// `dsbuild sign`.
#include "report/json_parts.h"

namespace dsbuild {

std::string render_signed(const SignedBundle& done) {
  return (done.changed ? "signed by the key " : "unchanged: it was signed by the key ") + done.key.id() +
         "\n" + done.file.string() + "\n";
}

std::string render_signed_json(const SignedBundle& done, const std::string& bundle) {
  Json json = json_document();
  json["bundle"] = bundle;
  json["signature"] = done.file.string();
  json["key"] = done.key.id();
  json["changed"] = done.changed;
  json["warnings"] = Json::array();
  return json_line(json);
}

}  // namespace dsbuild
