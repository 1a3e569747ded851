#include "driver/rebuild.h"

#include <algorithm>
#include <tuple>

#include "bundle/bundle.h"
#include "settings/options.h"
#include "settings/workload.h"

namespace dsbuild {
namespace {

constexpr const char* k_source_date = "SOURCE_DATE_EPOCH";

// Of the options of a build those that say where things are, and how it is run.
bool says_where(Topic topic) {
  constexpr Topic k_topics[] = {Topic::pack,   Topic::source, Topic::cuda, Topic::other_toolkits,
                                Topic::python, Topic::cores,  Topic::lock, Topic::offline};
  return std::ranges::find(k_topics, topic) != std::end(k_topics);
}

Path workload_file(const Path& folder) {
  return folder / "workload.yaml";
}

// Where ops were asked for each for archs of its own.
Result<void> write_workload(const RequestedBuild& request, const std::string& pack, const Path& folder,
                            FileSystem& files) {
  if (request.workload.empty()) return {};
  Workload workload;
  for (const std::string& op : request.ops) {
    const auto own = request.workload.find(op);
    workload.add(pack, op, own == request.workload.end() ? ArchSet{} : own->second);
  }
  return files.write_file(workload_file(folder), render_workload(workload, "Of a statement."));
}

Arguments arguments_of(const Statement& statement, const Arguments& typed, const Path& folder) {
  Arguments arguments;
  arguments.reads_project_file = false;
  arguments.verbosity = typed.verbosity;
  for (const auto& [name, value] : typed.values)
    if (const Option* option = find_option(name); option && says_where(option->topic))
      arguments[name] = value;
  if (!arguments.find("--pack")) arguments["--pack"] = statement.request.pack;
  if (!statement.request.workload.empty())
    arguments["--ops"] = "@" + workload_file(folder).string();
  else
    arguments["--ops"] = join(statement.request.ops, ",");
  if (statement.request.workload.empty() && !statement.request.archs.empty())
    arguments["--arch"] = join(statement.request.archs, ";");
  arguments["--out"] = (folder / "out").string();
  arguments["--build-dir"] = (folder / "build").string();
  arguments["--cache-size"] = "0";
  return arguments;
}

Environment environment_of(const Statement& statement, Environment environment) {
  for (const Option& option : options())
    if (option.decides_bytes || option.topic == Topic::archs || option.topic == Topic::ops)
      environment.erase(option.variable);
  std::erase_if(environment, [](const auto& variable) { return variable.first.starts_with("DS_BUILD_"); });
  environment.erase(k_source_date);
  if (!statement.request.source_date_epoch.empty())
    environment[k_source_date] = statement.request.source_date_epoch;
  return environment;
}

Result<void> check_pack(const Statement& statement, const Arguments& typed, const FileReader& files,
                        const Path& data_dir) {
  const std::vector<std::string> packs = known_packs(files, data_dir);
  const std::string& pack = statement.request.pack;
  if (typed.find("--pack") || std::ranges::find(packs, pack) != packs.end()) return {};
  return fail(Exit::usage, "unknown_pack", "--rebuild",
              "the bundle is of pack '" + printable(pack) + "', which is none of dsbuild's own",
              "Say where its ops are: --pack DIR.");
}

// ---- what differs

using Texts = std::map<std::string, std::string>;

std::string first_difference(const std::string& what, const Texts& before, const Texts& now) {
  Texts all = before;
  all.insert(now.begin(), now.end());
  for (const auto& [name, unused] : all) {
    const auto then = before.find(name), here = now.find(name);
    if (then == before.end()) return what + " " + name + " is set here";
    if (here == now.end()) return what + " " + name + " is not set here";
    if (then->second != here->second) return what + " " + name + " differs";
  }
  return "";
}

std::string name_of(const Dependency& dependency) {
  return dependency.kind + " " + dependency.name;
}

// Tools tell more than their files, and sources more than what is made of them.
int rank_of(const Dependency& dependency) {
  constexpr const char* k_order[] = {k_of_toolkit,        k_of_compiler, k_of_package,
                                     k_of_source,         k_of_header,   k_of_static_library,
                                     k_of_shared_library, k_of_object,   k_of_toolkit_part,
                                     k_of_compiler_part,  k_of_pack};
  return static_cast<int>(std::ranges::find(k_order, dependency.kind) - std::begin(k_order));
}

std::vector<const Dependency*> in_order(const std::vector<Dependency>& all, const std::string& file) {
  std::vector<const Dependency*> sorted;
  for (const Dependency& each : all)
    if (each.kind != k_of_pack && (file.empty() || each.used_by.contains(file))) sorted.push_back(&each);
  std::ranges::stable_sort(sorted, {}, [](const Dependency* each) { return rank_of(*each); });
  return sorted;
}

const Dependency* counterpart(const Dependency& of, const std::vector<const Dependency*>& all) {
  const auto found = std::ranges::find_if(
      all, [&](const Dependency* each) { return each->kind == of.kind && each->name == of.name; });
  return found == all.end() ? nullptr : *found;
}

std::string difference_of(const Dependency& then, const Dependency* now) {
  if (!now) return name_of(then) + " is not read here";
  if (then.version != now->version)
    return name_of(then) + " was " + then.version + ", here it is " + now->version;
  return then.sha256 == now->sha256 ? "" : name_of(then) + " has another sha256 here";
}

// Of what `file` was made of; "": of anything.
std::string differing_dependency(const Statement& before, const Statement& now, const std::string& file) {
  const auto then = in_order(before.dependencies, file), here = in_order(now.dependencies, file);
  std::vector<std::pair<int, std::string>> found;
  for (const Dependency* each : then)
    if (const std::string why = difference_of(*each, counterpart(*each, here)); !why.empty())
      found.emplace_back(rank_of(*each), why);
  for (const Dependency* each : here)
    if (!counterpart(*each, then)) found.emplace_back(rank_of(*each), name_of(*each) + " is read here alone");
  const auto first = std::ranges::min_element(found, {}, &std::pair<int, std::string>::first);
  return first == found.end() ? "" : first->second;
}

// Where two files begin to differ.
std::string place_of_difference(const std::string& before, const std::string& now) {
  const auto [then, here] = std::ranges::mismatch(before, now);
  const auto place = static_cast<size_t>(then - before.begin());
  if (then == before.end() || here == now.end())
    return "it has " + std::to_string(before.size()) + " bytes, the other one " + std::to_string(now.size());
  return "the first byte that differs is number " + std::to_string(place);
}

std::string cause_or_guess(const Statement& before, const Statement& now, const std::string& file) {
  if (const std::string cause = first_cause(before, now, file); !cause.empty()) return cause;
  if (!before.reproducible || !now.reproducible)
    return "the time of the build, or a file that no compiler names, is in it (SOURCE_DATE_EPOCH pins "
           "__DATE__ and __TIME__)";
  if (before.request.options.contains("debug")) return "debug information names the folder of the build";
  return "all that the statements say is the same; the bundle may have been changed after its build";
}

}  // namespace

Result<RebuildRequest> request_of_statement(const Statement& statement, const Arguments& typed,
                                            const System& system, const Path& data_dir, const Path& folder) {
  DSBUILD_CHECK(check_pack(statement, typed, system.files, data_dir));
  const Environment environment = environment_of(statement, system.environment);
  const Arguments arguments = arguments_of(statement, typed, folder);
  DSBUILD_CHECK(write_workload(statement.request, *arguments.find("--pack"), folder, system.files));
  DSBUILD_TRY(settings, load_settings(arguments, environment, system.files, data_dir));
  DSBUILD_CHECK(take_settings_of_bytes(statement.request.options, k_statement_name, settings));
  return RebuildRequest{{std::move(settings), "dsbuild verify --rebuild"}, environment};
}

std::string first_cause(const Statement& before, const Statement& now, const std::string& file) {
  if (before.run.dsbuild != now.run.dsbuild)
    return "it was built by dsbuild " + before.run.dsbuild + ", this is " + now.run.dsbuild;
  std::string why = first_difference("option", before.request.options, now.request.options);
  if (why.empty()) why = first_difference("variable", before.variables, now.variables);
  if (why.empty()) why = differing_dependency(before, now, file);
  return why.empty() && !file.empty() ? differing_dependency(before, now, "") : why;
}

Result<void> compare_rebuilt(const Path& bundle, const Path& rebuilt, const FileReader& files) {
  DSBUILD_TRY(before, load_statement(bundle, files));
  DSBUILD_TRY(now, load_statement(rebuilt, files));
  for (const Subject& subject : before.subjects) {
    const auto same = std::ranges::find(now.subjects, subject.name, &Subject::name);
    if (same != now.subjects.end() && same->sha256 == subject.sha256) continue;
    std::string what = subject.name + " is not what its provenance makes here: ";
    if (same != now.subjects.end()) {
      DSBUILD_TRY(old_bytes, files.read_file(bundle / subject.name));
      DSBUILD_TRY(new_bytes, files.read_file(rebuilt / subject.name));
      what += place_of_difference(old_bytes, new_bytes);
    } else {
      what += "it was not made";
    }
    const bool is_library = subject.name != k_manifest_name;
    const std::string cause = cause_or_guess(before, now, is_library ? subject.name : "");
    return fail(Exit::failed, "rebuild_differs", bundle.string(), what + "; " + cause,
                "Rebuild with the tools and sources that " + std::string(k_statement_name) + " names.");
  }
  return {};
}

}  // namespace dsbuild
