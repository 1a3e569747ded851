// Makes the JSON Schemas (2020-12) that `dsbuild schema` prints: of the files that dsbuild reads, and of the
// output of --json.
#pragma once

#include <functional>
#include <string>

#include "base/json.h"
#include "base/result.h"

namespace dsbuild {

// Folders below share/dsbuild or the checkout. k_schemas has those of op.yaml and pack.yaml, k_answer_schemas
// those of --json.
inline constexpr const char *k_schemas = "schemas", *k_answer_schemas = "schemas/answers";

// Makes one self-contained schema: copies definitions of other files into its `$defs`, and changes each
// `$ref` to them (op.schema.json#/$defs/word). `load` reads a schema file by its name. Errors: those of
// `load`.
Result<Json> bundle_schema(const Json& schema,
                           const std::function<Result<Json>(const std::string& name)>& load);

// The schemas of dsbuild.yaml and --config, and of --policy, from the table of options.
Json config_schema();
Json policy_schema();

}  // namespace dsbuild
