#include "base/args.h"
#include "base/json.h"
#include "project/project.h"

namespace dsbuild {
namespace {

constexpr std::chrono::seconds k_time_of_setup{600};
constexpr size_t k_shown_lines = 12;

Args words_of(const Json* list) {
  Args words;
  if (list && list->items())
    for (const Json& item : *list->items())
      if (item.text()) words.push_back(*item.text());
  return words;
}

Args words_in(const Json& json, std::string_view key) {
  return words_of(json.find(key));
}

std::vector<Json> items_in(const Json& json, std::string_view key) {
  const Json* found = json.find(key);
  return found && found->items() ? *found->items() : std::vector<Json>{};
}

ProjectExtension read_extension(const Json& json) {
  ProjectExtension extension{.name = text_at(json, "name"),
                             .kind = text_at(json, "kind"),
                             .of_torch = is_true(json, "torch"),
                             .where = text_at(json, "where"),
                             .suffix = text_at(json, "suffix"),
                             .package_root = text_at(json, "package_root"),
                             .sources = words_in(json, "sources"),
                             .include_dirs = words_in(json, "include_dirs"),
                             .libraries = words_in(json, "libraries"),
                             .library_dirs = words_in(json, "library_dirs"),
                             .runtime_library_dirs = words_in(json, "runtime_library_dirs"),
                             .extra_objects = words_in(json, "extra_objects"),
                             .cxx = words_in(json, "cxx"),
                             .nvcc = words_in(json, "nvcc"),
                             .link = words_in(json, "link"),
                             .list_archs = words_in(json, "list_archs"),
                             .folders = {},
                             .defines = {},
                             .capabilities = {}};
  for (const Json& folder : items_in(json, "folders"))
    extension.folders.push_back({text_at(folder, "folder"), text_at(folder, "in"), text_at(folder, "for")});
  for (const Json& define : items_in(json, "defines")) {
    const Args words = words_of(&define);  // a value that is null is none
    if (!words.empty()) extension.defines.emplace_back(words[0], words.size() > 1 ? words[1] : "");
  }
  if (const Json* capabilities = json.find("capabilities"); capabilities && capabilities->members())
    for (const JsonMember& member : *capabilities->members())
      extension.capabilities[member.key] = words_of(&member.value);
  return extension;
}

Project read_answer(const Json& json) {
  Project project{.name = text_at(json, "name"),
                  .version = text_at(json, "version"),
                  .license = text_at(json, "license"),
                  .file = text_at(json, "file"),
                  .whole = is_true(json, "whole"),
                  .folder = text_at(json, "folder"),
                  .said = words_in(json, "said"),
                  .passed = words_in(json, "passed"),
                  .environment = {},
                  .globs = {},
                  .extensions = {}};
  if (const Json* environment = json.find("environment"); environment && environment->members())
    for (const JsonMember& variable : *environment->members())
      project.environment[variable.key] =
          variable.value.text() ? std::optional(*variable.value.text()) : std::nullopt;
  for (const Json& glob : items_in(json, "globs"))
    project.globs.emplace_back(text_at(glob, "pattern"), words_in(glob, "files"));
  for (const Json& extension : items_in(json, "extensions"))
    project.extensions.push_back(read_extension(extension));
  return project;
}

// What it printed last, as the message shows it.
std::string last_lines(const std::string& printed) {
  Args lines = split_lines(trim(printed));
  if (lines.size() > k_shown_lines) lines.erase(lines.begin(), lines.end() - k_shown_lines);
  std::string text;
  for (const std::string& line : lines)
    text += "\n  " + printable(line);
  return text.empty() ? "" : "\nIts last lines:" + text;
}

tl::unexpected<Error> bad_project(const Path& named, const ProcessResult& run,
                                  const std::optional<Json>& answer) {
  const Json* error = answer ? answer->find("error") : nullptr;
  if (error)
    return fail(Exit::failed, "bad_project", named.string(), text_at(*error, "what"),
                text_at(*error, "fix") + last_lines(run.err));
  return fail(Exit::failed, "bad_project", named.string(),
              run.timed_out ? "its setup.py ran for more than 10 minutes"
                            : "its setup.py ended Python with exit code " + std::to_string(run.exit_code),
              "Write the pack by hand (docs/reference/op_yaml.md), or run setup.py by itself to see why." +
                  last_lines(run.err));
}

// What the hook of setuptools has written.
Result<Project> read_given(const Path& file, const FileReader& files) {
  DSBUILD_TRY(text, files.read_file(file));
  const auto json = Json::parse(text);
  if (!json)
    return fail(Exit::usage, "bad_option", "--extensions", printable(file.string()) + " is not JSON",
                "Name a file that dsbuild's build_ext of setuptools has written.");
  return read_answer(*json);
}

}  // namespace

Result<Project> read_project(const NamedProject& named, const Path& unpack_into, const Settings& settings,
                             const Path& cuda_home, System& system) {
  if (!named.given.empty()) return read_given(named.given, system.files);
  const std::string& wanted = settings.python.value;
  const auto python = find_program(system, wanted);
  if (!python)
    return fail(Exit::unmet, "python", settings.python.origin,
                "there is no Python '" + printable(wanted) + "'",
                "Name the one whose torch the project is for: --python FILE.");
  const FileReader& files = system.files;
  Environment environment = system.environment;
  if (!cuda_home.empty()) environment["CUDA_HOME"] = cuda_home.string();
  const Args words = {files.absolute(*python).string(),
                      (settings.data_dir / "scripts/read_project.py").string(),
                      files.absolute(named.path).string(), files.absolute(unpack_into).string()};
  const Command command{words, std::move(environment), "/", k_time_of_setup};
  DSBUILD_TRY(run, system.processes.run(command));
  const auto answer = Json::parse(trim(run.out));
  if (!run.ok() || !answer) return bad_project(named.path, run, answer);
  return read_answer(*answer);
}

}  // namespace dsbuild
