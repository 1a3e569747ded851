#include "provenance/statement.h"

#include <algorithm>
#include <utility>

#include "base/build_layout.h"
#include "base/digest.h"
#include "base/text.h"
#include "bundle/bundle.h"
#include "bundle/json_cursor.h"

namespace dsbuild {
namespace {

using Texts = std::map<std::string, std::string>;

Json json_of(const Texts& texts) {
  Json object = Json::object();
  for (const auto& [name, value] : texts)
    object.add(name, value);
  return object;
}

Json json_of(const Subject& subject) {
  return {{"digest", Json{{"sha256", subject.sha256}}}, {"name", subject.name}};
}

Json annotations_of(const Dependency& dependency) {
  Json annotations = {{"kind", dependency.kind}};
  if (!dependency.modified.empty()) annotations.add("modified", dependency.modified);
  annotations.add("used_by", std::vector<std::string>(dependency.used_by.begin(), dependency.used_by.end()));
  if (!dependency.version.empty()) annotations.add("version", dependency.version);
  return annotations;
}

// A ResourceDescriptor of in-toto's.
Json json_of(const Dependency& dependency) {
  Json json = {{"annotations", annotations_of(dependency)}};
  if (!dependency.commit.empty()) json.add("digest", Json{{"gitCommit", dependency.commit}});
  if (!dependency.sha256.empty()) json.add("digest", Json{{"sha256", dependency.sha256}});
  json.add("name", dependency.name);
  if (!dependency.uri.empty()) json.add("uri", dependency.uri);
  return json;
}

template <class Items>
Json list_of(const Items& items) {
  Json list = Json::array();
  for (const auto& item : items)
    list.push_back(json_of(item));
  return list;
}

Json json_of(const RequestedBuild& request) {
  Json json = {{"archs", request.archs},
               {"ops", request.ops},
               {"options", json_of(request.options)},
               {"pack", request.pack}};
  if (!request.source_date_epoch.empty()) json.add("source_date_epoch", request.source_date_epoch);
  if (request.workload.empty()) return json;
  Json workload = Json::object();
  for (const auto& [op, archs] : request.workload)
    workload.add(op, arch_array(archs));
  json.add("workload", std::move(workload));
  return json;
}

Json json_of(const BuildRun& run) {
  return {{"builder", Json{{"id", run.builder}, {"version", Json{{"dsbuild", run.dsbuild}}}}},
          {"metadata",
           Json{{"finishedOn", run.finished}, {"invocationId", run.invocation}, {"startedOn", run.started}}}};
}

Json definition_of(const Statement& statement) {
  return {{"buildType", k_build_type},
          {"externalParameters", json_of(statement.request)},
          {"internalParameters", Json{{"actions", json_of(statement.actions)},
                                      {"reproducible", statement.reproducible},
                                      {"variables", json_of(statement.variables)}}},
          {"resolvedDependencies", list_of(statement.dependencies)}};
}

// ---- reading

std::string text_or_none(const JsonCursor& object, const char* key) {
  const auto found = object.find(key);
  return found ? found->text() : "";
}

Texts read_texts(const JsonCursor& object) {
  Texts texts;
  for (const auto& [name, value] : object.members())
    texts[name] = value.text();
  return texts;
}

void expect(const JsonCursor& value, const char* text) {
  if (value.text() != text) value.refuse("is not \"" + std::string(text) + "\"");
}

std::string read_sha256(const JsonCursor& value) {
  const std::string digest = value.text();
  if (!is_sha256(digest)) value.refuse("is not a SHA-256 digest");
  return digest;
}

std::vector<Subject> read_subjects(const JsonCursor& subjects) {
  std::vector<Subject> all;
  for (const JsonCursor& subject : subjects.items())
    all.push_back({subject.at("name").text(), read_sha256(subject.at("digest").at("sha256"))});
  return all;
}

Dependency read_dependency(const JsonCursor& json) {
  const JsonCursor annotations = json.at("annotations");
  Dependency dependency{.kind = annotations.at("kind").text(),
                        .name = json.at("name").text(),
                        .sha256 = {},
                        .commit = {},
                        .uri = text_or_none(json, "uri"),
                        .version = text_or_none(annotations, "version"),
                        .modified = {},
                        .used_by = {}};
  if (const auto digest = json.find("digest")) {
    if (digest->find("sha256")) dependency.sha256 = read_sha256(digest->at("sha256"));
    dependency.commit = text_or_none(*digest, "gitCommit");
  }
  if (const auto modified = annotations.find("modified")) dependency.modified = modified->texts();
  for (std::string& user : annotations.at("used_by").texts())
    dependency.used_by.insert(std::move(user));
  return dependency;
}

std::map<std::string, ArchSet> read_workload(const JsonCursor& request) {
  std::map<std::string, ArchSet> workload;
  if (const auto ops = request.find("workload"))
    for (const auto& [op, archs] : ops->members())
      workload[op] = archs.archs();
  return workload;
}

RequestedBuild read_request(const JsonCursor& json) {
  return {.pack = json.at("pack").text(),
          .ops = json.at("ops").texts(),
          .archs = json.at("archs").texts(),
          .options = read_texts(json.at("options")),
          .source_date_epoch = text_or_none(json, "source_date_epoch"),
          .workload = read_workload(json)};
}

BuildRun read_run(const JsonCursor& run) {
  const JsonCursor builder = run.at("builder"), metadata = run.at("metadata");
  return {.builder = builder.at("id").text(),
          .dsbuild = builder.at("version").at("dsbuild").text(),
          .invocation = metadata.at("invocationId").text(),
          .started = metadata.at("startedOn").text(),
          .finished = metadata.at("finishedOn").text()};
}

Statement read_statement(const JsonCursor& top) {
  expect(top.at("_type"), k_statement_type);
  expect(top.at("predicateType"), k_predicate_type);
  const JsonCursor definition = top.at("predicate").at("buildDefinition");
  expect(definition.at("buildType"), k_build_type);
  const JsonCursor internal = definition.at("internalParameters");
  Statement statement{.subjects = read_subjects(top.at("subject")),
                      .request = read_request(definition.at("externalParameters")),
                      .variables = read_texts(internal.at("variables")),
                      .actions = read_texts(internal.at("actions")),
                      .reproducible = internal.at("reproducible").flag(),
                      .dependencies = {},
                      .run = read_run(top.at("predicate").at("runDetails"))};
  for (const JsonCursor& dependency : definition.at("resolvedDependencies").items())
    statement.dependencies.push_back(read_dependency(dependency));
  return statement;
}

// ---- what a bundle is

std::string difference_between(const std::vector<Subject>& said, const std::vector<Subject>& there) {
  Texts left;
  for (const Subject& subject : said)
    if (!left.emplace(subject.name, subject.sha256).second) return "names " + subject.name + " twice";
  for (const Subject& subject : there) {
    const auto found = left.find(subject.name);
    if (found == left.end()) return "does not name " + subject.name;
    if (found->second != subject.sha256) return "is of another " + subject.name + ": its sha256 differs";
    left.erase(found);
  }
  return left.empty() ? "" : "names " + left.begin()->first + ", which is not in the bundle";
}

std::string first_unknown_user(const Statement& statement) {
  for (const Dependency& dependency : statement.dependencies)
    for (const std::string& user : dependency.used_by)
      if (std::ranges::find(statement.subjects, user, &Subject::name) == statement.subjects.end())
        return "says that " + user + " was made of " + dependency.name + ", and has no such subject";
  return "";
}

// Names and digests of sources, as the statement has them.
using Sources = std::set<std::pair<std::string, std::string>>;

// Of a source's id (SourceSpec::id): "a.cu", or "a.cu,SIZE=32" of a combination. "": none has that name.
std::string name_in(const Sources& sources, const std::string& id) {
  for (size_t end = id.size(); end != std::string::npos && end > 0; end = id.rfind(',', end - 1)) {
    const std::string name = k_pack_folder + ("/" + id.substr(0, end));
    const auto found = sources.lower_bound({name, ""});
    if (found != sources.end() && found->first == name) return name;
  }
  return "";
}

// The manifest says of each source what the statement says.
std::string differing_source(const Statement& statement, const Manifest& manifest) {
  Sources sources;
  for (const Dependency& dependency : statement.dependencies)
    if (dependency.kind == k_of_source) sources.emplace(dependency.name, dependency.sha256);
  for (const ManifestOp& op : manifest.ops)
    for (const ManifestSource& source : op.sources) {
      const std::string name = name_in(sources, source.path);
      if (name.empty()) return "does not name " + source.path + ", a source of " + op.name;
      if (!sources.contains({name, source.sha256}))
        return "is of another " + source.path + " than the manifest: its sha256 differs";
    }
  return "";
}

}  // namespace

std::string render_statement(const Statement& statement) {
  return json_text({{"_type", k_statement_type},
                    {"predicate", Json{{"buildDefinition", definition_of(statement)},
                                       {"runDetails", json_of(statement.run)}}},
                    {"predicateType", k_predicate_type},
                    {"subject", list_of(statement.subjects)}});
}

Result<Statement> parse_statement(std::string_view json, const std::string& file) {
  return read_json<Statement>(json, "bad_statement", file, read_statement);
}

std::string render_unless_published(Statement statement, std::string_view published) {
  const std::string text = render_statement(statement);
  const auto before = parse_statement(published, "");
  if (!before || before->run.builder != statement.run.builder || before->run.dsbuild != statement.run.dsbuild)
    return text;
  statement.run = before->run;
  return render_statement(statement) == published ? std::string(published) : text;
}

std::vector<Subject> subjects_of(const Manifest& manifest, std::string_view manifest_text) {
  std::vector<Subject> subjects{{k_manifest_name, sha256(manifest_text)}};
  for (const ManifestOp& op : manifest.ops)
    subjects.push_back({op.file, op.sha256});
  std::ranges::sort(subjects, {}, &Subject::name);
  return subjects;
}

Result<std::string> read_statement_file(const Path& bundle, const FileReader& files) {
  const Path file = bundle / k_statement_name;
  if (files.kind(file) == FileKind::file) return files.read_file(file);
  return fail(Exit::failed, "no_statement", bundle.string(),
              std::string("has no ") + k_statement_name + ", which says of what it was built",
              "Build the bundle again.");
}

Result<Statement> load_statement(const Path& bundle, const FileReader& files) {
  DSBUILD_TRY(text, read_statement_file(bundle, files));
  return parse_statement(text, (bundle / k_statement_name).string());
}

Result<Statement> load_checked_statement(const Path& bundle, const Manifest& manifest,
                                         const FileReader& files) {
  DSBUILD_TRY(statement, load_statement(bundle, files));
  DSBUILD_TRY(manifest_text, files.read_file(bundle / k_manifest_name));
  std::string why = difference_between(statement.subjects, subjects_of(manifest, manifest_text));
  if (why.empty()) why = first_unknown_user(statement);
  if (why.empty()) why = differing_source(statement, manifest);
  if (why.empty()) return statement;
  return fail(Exit::failed, "statement_differs", (bundle / k_statement_name).string(), why,
              "One of them was changed after the build; build the bundle again.");
}

Result<void> check_statement(const Path& bundle, const Manifest& manifest, const FileReader& files) {
  if (files.own_kind(bundle / k_statement_name) != FileKind::absent)
    DSBUILD_CHECK(load_checked_statement(bundle, manifest, files));
  return {};
}

}  // namespace dsbuild
