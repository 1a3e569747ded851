#include "slices/run_whole_step.h"

#include "base/digest.h"
#include "slices/include_record.h"
#include "slices/kept_results.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

constexpr const char* k_object = "object";  // in the store's entry

class CompileRun {
 public:
  CompileRun(const WholeStep& step, System& system, const ContentStore& store)
      : step_(step), files_(system.files), store_(store) {
    const auto source = files_.read_file(value_of(step.command, "-c"));
    key_ = sha256("compile " + identities(system.environment) + shell_join(step.command) + '\0' +
                  (source ? *source : ""));
  }

  // Takes the object, where all that it was made of is as it was.
  Result<bool> take() {
    const auto record = find_include_record(store_, key_, files_);
    const auto entry = record ? store_.find(record->result) : std::nullopt;
    const bool is_hit = entry && entry->size() == 1 && entry->front().name == k_object;
    note_store_use(is_hit, files_);
    if (!is_hit) return false;
    DSBUILD_CHECK(files_.write_file(step_.output + ".d", render_depfile(step_.output, record->files)));
    DSBUILD_CHECK(files_.write_file(step_.output + ".tmp", entry->front().bytes));
    return true;
  }

  // What the command has made.
  void keep() {
    const auto depfile = files_.read_file(step_.output + ".d");
    auto object = files_.read_file(step_.output + ".tmp");
    if (!depfile || !object) return;
    const std::string result = sha256(key_ + *object);
    const std::string record =
        render_include_record({result, files_in_depfile(*depfile)}, step_.command, begin_ns_, files_);
    if (record.empty()) return;
    store_.put(result, {{k_object, std::move(*object)}});
    add_include_record(store_, key_, record);
  }

 private:
  // Of the compiler, and of all that the plan knows of tools.
  std::string identities(const Environment& environment) const {
    std::string text = identity_of_tool(step_.command.front(), environment, files_) + "\n";
    for (const char* file : {k_tools_file, k_cxx_file, k_torch_file}) {
      const auto identity = files_.read_file(file);
      text += (identity ? *identity : "") + "\n";
    }
    return text;
  }

  const WholeStep& step_;
  FileSystem& files_;
  const ContentStore& store_;
  std::string key_;
  const int64_t begin_ns_ = file_clock_now();
};

bool uses_precompiled_header(const Words& command, const FileReader& files) {
  for (size_t i = 0; i + 1 < command.size(); ++i)
    if (command[i] == "-include" && files.kind(command[i + 1] + ".gch") != FileKind::absent) return true;
  return false;
}

// nvcc with --keep is to make what slices are compared with.
bool is_kept(const Words& command, const FileReader& files) {
  const bool compiles = !value_of(command, "-c").empty() && !value_of(command, "-MF").empty();
  const bool is_another_kind = has_word(command, "c++-header") || has_word(command, "--keep");
  return compiles && !is_another_kind && !uses_precompiled_header(command, files);
}

}  // namespace

Result<int> run_whole_step(const WholeStep& step, System& system,
                           const std::function<Result<int>(const Words&)>& run_tools) {
  const auto store = is_kept(step.command, system.files) ? store_of_build(system.files) : std::nullopt;
  if (!store) return run_tools(step.command);
  CompileRun run(step, system, *store);
  DSBUILD_TRY(is_there, run.take());
  if (is_there) return 0;
  DSBUILD_TRY(code, run_tools(step.command));
  if (code == 0) run.keep();
  return code;
}

}  // namespace dsbuild
