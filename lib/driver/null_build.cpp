#include "driver/null_build.h"

#include <algorithm>
#include <map>
#include <thread>

#include "base/build_layout.h"
#include "base/digest.h"
#include "driver/build_folder.h"
#include "driver/due_actions.h"
#include "driver/process_answers.h"
#include "sys/clock.h"
#include "sys/watched_files.h"

namespace dsbuild {
namespace {

// Of all that a plan is made of but the disk; "" where that cannot be told. A machine is the same until it is
// started again.
std::string key_of(const std::string& asked, const System& system) {
  static const std::set<std::string> k_of_shell = {"_", "OLDPWD", "PWD",
                                                   "SHLVL"};  // it changes them at each command
  const auto boot = system.files.read_file("/proc/sys/kernel/random/boot_id");
  if (!boot) return "";
  std::string text = *boot + k_version + '\0' + asked + '\0' + system.files.absolute(".").string();
  for (const auto& [name, value] : system.environment)
    if (k_of_shell.count(name) == 0) text += '\0' + name + "=" + value;
  return sha256(text);
}

bool is_own_memo(const std::string& path, const Settings& settings, const FileReader& files) {
  return files.absolute(path).string().starts_with(files.absolute(settings.cache_dir / "digests").string() +
                                                   "/");
}

// Facts are about files whose identities planning asks for, too; the system's own folders hold loads and
// clocks.
bool counts(const std::string& path, const Settings& settings, const FileReader& files) {
  const std::string whole = files.absolute(path).string();
  const std::string own = files.absolute(settings.build_dir.value).string() + "/";
  return !whole.starts_with(own) && !whole.starts_with("/proc/") && !whole.starts_with("/sys/") &&
         whole != files.absolute(settings.facts_file).string() && !is_own_memo(path, settings, files);
}

// What is published, of what, and all that the judge asks: nullopt where an action is due, or that cannot be
// told.
std::optional<Answers> results_of(const Plan& plan, System& system) {
  FileSystem& disk = system.files;
  const Settings& settings = plan.settings();
  const Path &out = settings.out.value, &folder = settings.build_dir.value;
  WatchedFiles files(disk);
  DigestMemo digests(files, settings.cache_dir / "digests", settings.trust());
  System watched{files, system.processes, system.environment, system.program};
  if (!find_due_actions(plan, plan.graph, watched, digests).empty()) return std::nullopt;
  digests.save();
  (void)files.identity(folder / k_graph_file);
  for (const auto& [name, target] : plan.graph.links)
    (void)files.real_path(folder / name);
  for (const PlannedFile& file : plan.graph.files)
    (void)files.identity(folder / file.path);
  (void)files.list(out);
  for (const char* name : {k_manifest_name, k_statement_name, k_signature_name})
    (void)files.identity(out / name);
  for (const ExpectedOp& op : plan.graph.expected)
    (void)files.identity(out / (op.op + ".so"));
  Answers answers = files.answers();
  std::erase_if(answers, [&](const auto& answer) { return is_own_memo(answer.first.first, settings, disk); });
  return answers;
}

// In whatever order the history puts the edges, and with them the files.
bool is_same_graph(const BuildPlan& a, const BuildPlan& b) {
  const auto by_path = [](const BuildPlan& plan) {
    std::map<std::string, std::string> files;
    for (const PlannedFile& file : plan.files)
      files[file.path] = file.content;
    return files;
  };
  const auto edges = edges_by_output(a.edges), others = edges_by_output(b.edges);
  return a.tools == b.tools && a.shared == b.shared && by_path(a) == by_path(b) && a.links == b.links &&
         std::equal(edges.begin(), edges.end(), others.begin(), others.end(),
                    [](const Edge* x, const Edge* y) { return *x == *y; });
}

// When one of the files and folders last changed, or says that it did.
int64_t newest_of(const Answers& answers, const FileReader& files) {
  int64_t newest_ns = 0;
  for (const auto& [asked, answer] : answers) {
    const bool has_content = asked.second == Question::identity || asked.second == Question::names;
    const auto identity = has_content ? files.identity(asked.first) : std::nullopt;
    if (identity) newest_ns = std::max({newest_ns, identity->mtime_ns, identity->ctime_ns});
  }
  return newest_ns;
}

// What planning asked of the disk and of programs.
struct Planning {
  Answers files;
  ProcessAnswers programs;
};

// nullopt where that is not all that the plan comes from.
std::optional<Planning> watch_planning(const Plan& plan, const PlanAgain& plan_again, System& disk) {
  std::this_thread::sleep_for(std::chrono::nanoseconds(k_file_clock_step_ns));
  const int64_t begin_ns = file_clock_now();
  WatchedFiles files(disk.files);
  WatchedProcesses processes(disk, plan.settings().build_dir.value);
  System system{files, processes, disk.environment, disk.program};
  (void)files.identity(system.program);
  const auto again = plan_again(system);
  auto programs = processes.answers();
  if (!again || !programs || !is_same_graph(again->graph, plan.graph)) return std::nullopt;
  Planning planning{files.answers(), std::move(*programs)};
  std::erase_if(planning.files,
                [&](const auto& answer) { return !counts(answer.first.first, plan.settings(), disk.files); });
  const bool is_settled = newest_of(planning.files, disk.files) < begin_ns - k_file_clock_step_ns;
  return is_settled ? std::optional(std::move(planning)) : std::nullopt;
}

bool can_be_listed(const Answers& answers) {
  return std::none_of(answers.begin(), answers.end(), [](const auto& answer) {
    return (answer.first.first + answer.second).find_first_of("\n\t") != std::string::npos;
  });
}

// "f <path>\t<answer>": a line each, and an empty one.
std::string render(const Answers& answers) {
  std::string text;
  for (const auto& [asked, answer] : answers)
    text += std::string(1, static_cast<char>(asked.second)) + " " + asked.first + "\t" + answer + "\n";
  return text + "\n";
}

// A digest of the rest; the key; the numbers of the outcome; answers of the disk about results, then about
// what was planned from; answers of programs, behind their number of bytes; what was shown.
std::string render(std::string_view key, std::string_view numbers, const Answers& results,
                   std::string_view planning_and_shown) {
  const std::string text = std::string(key) + "\n" + std::string(numbers) + "\n" + render(results) +
                           std::string(planning_and_shown);
  return sha256(text) + "\n" + text;
}

std::string numbers_of(const UnchangedBuild& build) {
  return std::to_string(build.bundle.bytes) + " " + std::to_string(build.ops) + " " +
         std::to_string(build.skipped) + (build.compared ? " " + std::to_string(*build.compared) : "");
}

std::string render(const Planning& planning, const std::string& shown) {
  const std::string programs = render_process_answers(planning.programs);
  return render(planning.files) + std::to_string(programs.size()) + "\n" + programs + shown;
}

// Reads a remembered build line by line.
class Remembered {
 public:
  explicit Remembered(std::string_view text) : left_(text) {}

  std::string_view line() {
    const size_t end = std::min(left_.find('\n'), left_.size());
    const std::string_view first = left_.substr(0, end);
    left_.remove_prefix(std::min(end + 1, left_.size()));
    return first;
  }
  std::string_view bytes(size_t count) {
    const std::string_view first = left_.substr(0, count);
    left_.remove_prefix(first.size());
    return first;
  }
  // Up to the next empty one.
  std::vector<std::string_view> lines() {
    std::vector<std::string_view> all;
    for (std::string_view next = line(); !next.empty(); next = line())
      all.push_back(next);
    return all;
  }
  std::string_view rest() const { return left_; }

 private:
  std::string_view left_;
};

bool is_still_so(std::string_view line, const FileReader& files) {
  const size_t tab = line.find('\t');
  if (line.size() < 3 || tab == std::string_view::npos) return false;
  const Path path = line.substr(2, tab - 2);
  return answer_to(static_cast<Question>(line[0]), path, files) == line.substr(tab + 1);
}

bool are_still_so(const std::vector<std::string_view>& answers, const FileReader& files) {
  return std::ranges::all_of(answers, [&](std::string_view line) { return is_still_so(line, files); });
}

// The programs are asked once all files are known to be the same.
bool programs_answer_as_then(Remembered& remembered, const Path& build_dir, const System& system) {
  const auto size = whole_number<size_t>(std::string(remembered.line()));
  const auto programs = size ? parse_process_answers(remembered.bytes(*size)) : std::nullopt;
  return programs && programs_say_the_same(*programs, system, build_dir);
}

bool read_numbers(std::string_view line, UnchangedBuild& build) {
  const std::vector<std::string> words = split(line, " ");
  if (words.size() < 3) return false;
  build.bundle.bytes = whole_number<unsigned long long>(words[0]).value_or(0);
  build.ops = whole_number<size_t>(words[1]).value_or(0);
  build.skipped = whole_number<int>(words[2]).value_or(0);
  if (words.size() > 3) build.compared = whole_number<size_t>(words[3]);
  return true;
}

// `text` behind its key, where it is whole and of this request.
std::optional<Remembered> behind_key(std::string_view text, const std::string& asked, const System& system) {
  Remembered remembered(text);
  const std::string_view digest = remembered.line();
  if (digest != sha256(remembered.rest()) || remembered.line() != key_of(asked, system)) return std::nullopt;
  return remembered;
}

}  // namespace

std::optional<UnchangedBuild> find_unchanged_build(const Request& request, const std::string& asked,
                                                   const System& system) {
  const Path file = request.settings.build_dir.value / k_unchanged_file;
  if (system.files.kind(file) != FileKind::file) return std::nullopt;
  const auto lock = lock_if_built(request, system.files);
  return lock ? look_for_unchanged_build(request, asked, system) : std::nullopt;
}

std::optional<UnchangedBuild> look_for_unchanged_build(const Request& request, const std::string& asked,
                                                       const System& system) {
  const FileReader& files = system.files;
  const Settings& settings = request.settings;
  if (settings.trust() == Trust::nothing) return std::nullopt;
  const auto text = files.read_file(settings.build_dir.value / k_unchanged_file);
  if (!text) return std::nullopt;
  auto remembered = behind_key(*text, asked, system);
  UnchangedBuild build;
  build.bundle.path = settings.out.value;
  if (!remembered || !read_numbers(remembered->line(), build) || !are_still_so(remembered->lines(), files) ||
      !are_still_so(remembered->lines(), files) ||
      !programs_answer_as_then(*remembered, settings.build_dir.value, system))
    return std::nullopt;
  build.shown = remembered->rest();
  return build;
}

void remember_build(const UnchangedBuild& build, const std::string& asked, const Plan& plan,
                    const PlanAgain& plan_again, System& system) {
  const std::string key = key_of(asked, system);
  if (key.empty()) return;
  const auto planning = watch_planning(plan, plan_again, system);
  const auto results = planning ? results_of(plan, system) : std::nullopt;
  if (!results || !can_be_listed(planning->files) || !can_be_listed(*results)) return;
  (void)system.files.write_if_different(
      plan.settings().build_dir.value / k_unchanged_file,
      render(key, numbers_of(build), *results, render(*planning, build.shown)));
}

void remember_results(const std::string& asked, const Plan& plan, System& system) {
  if (plan.settings().trust() == Trust::nothing) return;
  const Path& build_dir = plan.settings().build_dir.value;
  const auto text = system.files.read_file(build_dir / k_unchanged_file);
  auto remembered = text ? behind_key(*text, asked, system) : std::nullopt;
  if (!remembered) return;
  const std::string_view numbers = remembered->line();
  (void)remembered->lines();  // results as they were
  const std::string_view planning_and_shown = remembered->rest();
  if (!are_still_so(remembered->lines(), system.files) ||
      !programs_answer_as_then(*remembered, build_dir, system))
    return;
  const auto results = results_of(plan, system);
  if (!results || !can_be_listed(*results)) return;
  (void)system.files.write_if_different(build_dir / k_unchanged_file,
                                        render(key_of(asked, system), numbers, *results, planning_and_shown));
}

}  // namespace dsbuild
