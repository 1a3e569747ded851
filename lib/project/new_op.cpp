#include "project/new_op.h"

namespace dsbuild {
namespace {

const char* const k_placeholder = "my_op";  // in the templates' names and texts
// What the first line of a template's op.yaml names, for editors, and of an op's own: a file of the pack.
const char* const k_schema_of_template = "../../../schemas/op.schema.json";
const char* const k_schema = "op.schema.json";

struct NewFile {
  Path path;
  std::string text;
};

bool belongs_to_spec(const Path& file) {
  return file.extension() == ".yaml" || file.extension() == ".py";
}

Result<void> check_name(const std::string& name) {
  const std::string reason = op_name_refusal(name);
  if (reason.empty()) return {};
  std::string meant = to_lower(name);
  std::replace(meant.begin(), meant.end(), '-', '_');
  const std::string hint = op_name_refusal(meant).empty() ? " (did you mean '" + meant + "'?)" : "";
  return fail(Exit::usage, "bad_op_name", "new", "'" + printable(name) + "' " + reason + hint,
              "Choose another name, such as fused_scale.");
}

// A folder of one's own, which may not be there yet.
Result<Pack> open_pack(const Settings& settings, const System& system) {
  const FileReader& files = system.files;
  const std::string& word = settings.pack.value;
  Result<Pack> found = load_pack(settings, system);
  if (!found && files.kind(word) == FileKind::absent) return Pack{{}, word, word, {}, word};
  DSBUILD_TRY(pack, std::move(found));
  if (pack.shown == "ops/" + word)
    return fail(Exit::usage, "foreign_pack", settings.pack.origin,
                "'" + word + "' is a pack of dsbuild itself",
                "Give a folder of your own: --pack ./" + std::string(k_new_pack) + ".");
  if (files.kind(pack.spec_root / "op.yaml") != FileKind::absent)
    return fail(Exit::usage, "foreign_pack", settings.pack.origin, "'" + word + "' is the folder of one op",
                "Give the folder of the pack, which has <op>/op.yaml for each op: --pack mypack.");
  // Shown as the user wrote it.
  if (files.absolute(pack.spec_root) == pack.source_root) pack.source_root = pack.spec_root;
  return pack;
}

Result<std::vector<NewFile>> fill_template(const Path& folder, const Pack& pack, const std::string& op,
                                           const FileReader& files) {
  std::vector<NewFile> filled;
  DSBUILD_TRY(names, files.list(folder));
  for (const std::string& name : names) {
    DSBUILD_TRY(text, files.read_file(folder / name));
    const Path& root = belongs_to_spec(name) ? pack.spec_root : pack.source_root;
    text = replace_all(std::move(text), k_schema_of_template, std::string("../") + k_schema);
    filled.push_back(
        {root / op / replace_all(name, k_placeholder, op), replace_all(text, k_placeholder, op)});
  }
  return filled;
}

Result<void> check_absent(const std::vector<NewFile>& wanted, const FileReader& files) {
  for (const NewFile& file : wanted) {
    if (files.kind(file.path) == FileKind::absent) continue;
    return fail(Exit::usage, "file_exists", file.path.string(),
                "the file is already there, nothing was written",
                "Choose another name for the op, or another --pack.");
  }
  return {};
}

Result<void> write(const std::vector<NewFile>& wanted, FileSystem& files) {
  for (const NewFile& file : wanted) {
    DSBUILD_CHECK(files.make_directories(file.path.parent_path()));
    DSBUILD_CHECK(files.write_file(file.path, file.text));
  }
  return {};
}

NewOp summary(const std::vector<NewFile>& written, const Pack& pack, const std::string& op) {
  NewOp made{op, {}, pack.shown, (pack.spec_root / op / ("test_" + op + ".py")).string(), {}};
  for (const NewFile& file : written)
    made.files.push_back(file.path.string());
  return made;
}

}  // namespace

Result<NewOp> write_new_op(const std::string& name, const std::string& backend, const Settings& settings,
                           const System& system) {
  DSBUILD_CHECK(check_name(name));
  DSBUILD_TRY(pack, open_pack(settings, system));
  const Path templates = settings.data_dir / "templates" / backend / k_placeholder;
  DSBUILD_TRY(wanted, fill_template(templates, pack, name, system.files));
  DSBUILD_CHECK(check_absent(wanted, system.files));
  // Next to the ops, so that version control takes it along. Each new op brings that of this version.
  DSBUILD_TRY(schema, system.files.read_file(settings.data_dir / "schemas" / k_schema));
  wanted.push_back({pack.spec_root / k_schema, std::move(schema)});
  DSBUILD_CHECK(write(wanted, system.files));
  return summary(wanted, pack, name);
}

}  // namespace dsbuild
