#include "slices/run_whole_step.h"

#include "base/digest.h"
#include "slices/include_record.h"
#include "slices/kept_results.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

constexpr const char* k_object = "object";  // in the store's entry

// Beside a precompiled header, whose files no depfile of its users names: what its own compile read.
std::string record_of(const std::string& precompiled) {
  return precompiled + ".record";
}

// Whether one of the options, or of those that nvcc is to hand on (-Xcompiler=-a,-b), begins so.
bool has_option(const Words& command, const Words& beginnings) {
  return std::any_of(command.begin(), command.end(), [&](const std::string& word) {
    const Words options = split(word, "=,");
    return std::any_of(options.begin(), options.end(), [&](const std::string& option) {
      return !option.starts_with("-gencode") && starts_with_one_of(option, beginnings);
    });
  });
}

// The precompiled headers that stand in for those that a command includes.
std::vector<std::string> precompiled_headers(const Words& command, const FileReader& files) {
  std::vector<std::string> found;
  for (size_t i = 0; i + 1 < command.size(); ++i) {
    if (command[i] != "-include") continue;
    const auto identity = files.identity(command[i + 1] + ".gch");
    if (identity && identity->size > 0) found.push_back(command[i + 1] + ".gch");
  }
  return found;
}

class CompileRun {
 public:
  CompileRun(WholeStep step, System& system, const ContentStore& store)
      : step_(std::move(step)), files_(system.files), store_(store) {
    const auto source = files_.read_file(value_of(step_.command, "-c"));
    key_ = sha256(std::string("compile ") + k_recipe + '\n' + identities(system.environment) +
                  folder_in_object() + shell_join(step_.command) + '\0' + (source ? *source : ""));
  }

  bool is_known() const { return find().has_value(); }

  // Takes the object, where all that it was made of is as it was.
  Result<bool> take() {
    const auto known = find();
    note_store_use(known.has_value(), files_);
    if (!known) return false;
    DSBUILD_CHECK(files_.write_file(step_.output + ".d", render_depfile(step_.output, known->files)));
    DSBUILD_CHECK(files_.write_file(step_.output + ".tmp", known->object));
    return true;
  }

  // What the command has made.
  void keep() {
    auto object = files_.read_file(step_.output + ".tmp");
    if (!object) return;
    const std::string result = sha256(key_ + *object);
    std::string record = render_what_was_read(result);
    if (record.empty()) return;
    for (const std::string& header : precompiled_headers(step_.command, files_)) {
      const auto more = files_.read_file(record_of(header));
      if (!more) return;
      record += *more;
    }
    store_.put(result, {{k_object, std::move(*object)}});
    add_include_record(store_, key_, record);
  }

  // Of a header that was precompiled: its users keep what they make of it by this.
  Result<void> note_record() {
    const std::string record = render_what_was_read("");
    if (record.empty()) return files_.remove_all(record_of(step_.output));
    return files_.write_file(record_of(step_.output), record.substr(record.find('\n') + 1));
  }

 private:
  struct Known {
    std::vector<std::string> files;
    std::string object;
  };

  std::optional<Known> find() const {
    auto record = find_include_record(store_, key_, files_);
    auto entry = record ? store_.find(record->result) : std::nullopt;
    if (!entry || entry->size() != 1 || entry->front().name != k_object) return std::nullopt;
    return Known{std::move(record->files), std::move(entry->front().bytes)};
  }

  // "" where that is not known.
  std::string render_what_was_read(const std::string& result) const {
    const auto depfile = files_.read_file(step_.output + ".d");
    if (!depfile) return "";
    return render_include_record({result, files_in_depfile(*depfile)}, step_.command, begin_ns_, files_);
  }

  // Of the compiler, and of all that the plan knows of tools.
  std::string identities(const Environment& environment) const {
    const std::string& compiler = step_.command.front();
    const bool is_nvcc = Path(compiler).filename() == "nvcc";
    std::string text = identity_of_tool(compiler, environment, files_) + "\n";
    for (const char* file : {is_nvcc ? k_tools_file : k_cxx_file, k_torch_file}) {
      const auto identity = files_.read_file(file);
      text += (identity ? *identity : "") + "\n";
    }
    return text;
  }

  // Debug information names the folder that it was made in.
  std::string folder_in_object() const {
    static const Words asking_for_it = {
        "-g", "-G", "--debug", "--device-debug", "-lineinfo", "--generate-line-info"};
    return has_option(step_.command, asking_for_it) ? files_.absolute(".").string() + "\n" : "";
  }

  const WholeStep step_;
  FileSystem& files_;
  const ContentStore& store_;
  std::string key_;
  const int64_t begin_ns_ = file_clock_now();
};

using RunTools = std::function<Result<int>(const Words&)>;

// Whether too few of the header's users would be compiled for it to pay: the others are in the store.
bool is_spared(const WholeStep& header, System& system, const ContentStore& store) {
  const auto text = system.files.read_file(header.output + k_users_end);
  if (!text) return false;
  std::vector<std::string> lines = split_lines(*text);
  size_t still_needed = lines.empty() ? 0 : whole_number<size_t>(lines.front()).value_or(0);
  for (size_t i = 1; i < lines.size() && still_needed > 0; ++i) {
    const Words command = shell_split(lines[i]);
    if (!CompileRun({value_of(command, "-MT"), command}, system, store).is_known()) --still_needed;
  }
  return still_needed > 0;
}

// An empty precompiled header is one that gcc passes over: it reads the header itself.
Result<int> spare(const WholeStep& header, FileSystem& files) {
  DSBUILD_CHECK(files.remove_all(record_of(header.output)));
  const std::string depfile = render_depfile(header.output, {value_of(header.command, "-c")});
  DSBUILD_CHECK(files.write_file(header.output + ".d", depfile));
  DSBUILD_CHECK(files.write_file(header.output + ".tmp", ""));
  return 0;
}

Result<int> precompile(const WholeStep& header, System& system, const ContentStore& store,
                       const RunTools& run_tools) {
  if (is_spared(header, system, store)) return spare(header, system.files);
  CompileRun run(header, system, store);
  DSBUILD_TRY(code, run_tools(header.command));
  if (code == 0) DSBUILD_CHECK(run.note_record());
  return code;
}

// A command whose files or messages are not all in its object and its words: files of options and profiles
// that no depfile names, files written beside the object, and what it is run for is what it prints. nvcc with
// --keep is to make what slices are compared with.
bool is_kept(const Words& command) {
  static const Words of_more = {
      "@",           "-optf",        "--options-file", "-specs",          "-fplugin",
      "-fprofile",   "--coverage",   "-coverage",      "-ftest-coverage", "-gsplit-dwarf",
      "-save-temps", "--save-temps", "-fstack-usage",  "-fdump-",         "-v",
      "--verbose",   "--keep",       "-keep"};
  const bool compiles = !value_of(command, "-c").empty() && !value_of(command, "-MF").empty();
  return compiles && !has_option(command, of_more);
}

}  // namespace

Result<int> run_whole_step(const WholeStep& step, System& system, const RunTools& run_tools) {
  const auto store = is_kept(step.command) ? store_of_build(system.files) : std::nullopt;
  if (!store) return run_tools(step.command);
  if (has_word(step.command, "c++-header")) return precompile(step, system, *store, run_tools);
  CompileRun run(step, system, *store);
  DSBUILD_TRY(is_there, run.take());
  if (is_there) return 0;
  DSBUILD_TRY(code, run_tools(step.command));
  if (code == 0) run.keep();
  return code;
}

}  // namespace dsbuild
