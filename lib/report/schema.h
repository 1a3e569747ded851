// JSON Schemas (2020-12) of the files that dsbuild reads and of what --json prints, as `dsbuild schema`
// prints them.
#pragma once

#include <functional>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace dsbuild {

// Below share/dsbuild, or the checkout: those of op.yaml and pack.yaml, and in k_answer_schemas of --json.
inline constexpr const char *k_schemas = "schemas", *k_answer_schemas = "schemas/answers";

// One document: each `$ref` to a definition of another file (op.schema.json#/$defs/word) becomes one to its
// own
// `$defs`, which gets the definition. `load` reads a file of that name.
Result<Json> bundle_schema(const Json& schema,
                           const std::function<Result<Json>(const std::string& name)>& load);

// Of dsbuild.yaml and --config, and of --policy, from the table of options.
Json config_schema();
Json policy_schema();

}  // namespace dsbuild
