// schema: the JSON Schema of a file that dsbuild reads, or of what a command prints with --json.
#include <algorithm>

#include "command.h"
#include "report/schema.h"

namespace dsbuild {
namespace {

Result<Json> read_schema(const Path& file, const FileReader& files) {
  DSBUILD_TRY(text, files.read_file(file));
  if (auto json = Json::parse(text)) return *json;
  return fail(Exit::failed, "io", file.string(), "is not valid JSON", "Install dsbuild again.");
}

Result<Json> schema_called(const std::string& name, const CommandContext& context) {
  if (name == "config") return config_schema();
  if (name == "policy") return policy_schema();
  const bool is_of_file = name == "op" || name == "pack";
  const Path folder = context.data_dir / (is_of_file ? k_schemas : k_answer_schemas);
  const FileReader& files = context.system.files;
  DSBUILD_TRY(schema, read_schema(folder / (name + (is_of_file ? ".schema.json" : ".json")), files));
  return bundle_schema(schema, [&](const std::string& file) { return read_schema(folder / file, files); });
}

Result<int> run_schema(const CommandContext& context) {
  const std::vector<std::string> names = schema_names(context);
  if (context.line.operands.empty()) {
    DSBUILD_CHECK(print_result(join(names, "\n") + "\n"));
    return 0;
  }
  const std::string& name = context.line.operands.front();
  if (std::ranges::find(names, name) == names.end())
    return fail(Exit::usage, "bad_option", "schema",
                "there is no schema '" + printable(name) + "'" + did_you_mean(name, names),
                "`dsbuild schema` lists their names.");
  DSBUILD_TRY(schema, schema_called(name, context));
  DSBUILD_CHECK(print_result(schema.dump(2) + "\n"));
  return 0;
}

}  // namespace

std::vector<std::string> schema_names(const CommandContext& context) {
  std::vector<std::string> names = {"op", "pack", "config", "policy"};
  const auto files = context.system.files.list(context.data_dir / k_answer_schemas);
  for (const std::string& file : files.value_or(std::vector<std::string>{}))
    if (const std::string name = Path(file).stem().string(); name != "common") names.push_back(name);
  return names;
}

CommandRow schema_command() {
  return {
      .name = "schema",
      .help = "Print the JSON Schema of op.yaml, a config, a policy or an answer",
      .run = run_schema,
      .examples = {{"dsbuild schema op", "of op.yaml, for an editor"},
                   {"dsbuild schema plan", "of what `dsbuild plan --json` prints"},
                   {"dsbuild schema", "the names of all"}},
      .operands = Operands{"name", "SCHEMA", "op, pack, config, policy, or whose --json [list the names]", 1},

      .reads_settings = false,
      .reads_project_file = false};
}

}  // namespace dsbuild
