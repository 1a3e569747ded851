#include "wrapper/call_parts.h"

#include <algorithm>
#include <future>
#include <set>

#include "base/build_layout.h"
#include "base/digest.h"
#include "driver/slice_tests.h"
#include "driver/survey.h"
#include "exec/record.h"
#include "inputs/include_search.h"
#include "inputs/path_origin.h"
#include "inputs/torch_headers.h"
#include "nvcc/host_text.h"
#include "nvcc/source_text.h"
#include "nvcc/step_file.h"
#include "sys/job_server.h"
#include "sys/lock.h"

namespace dsbuild {
namespace {

constexpr auto k_longest_part = std::chrono::hours(24);
// Of a part that nobody has measured: with torch's headers 3 to 5.5 GiB were seen, else less than 1 GiB.
constexpr ByteCount k_guess = 1ULL << 30, k_guess_with_torch = 11ULL << 29;

struct Part {
  StepFile step;
  std::string step_file, output;
  std::vector<size_t> after;  // which parts make its inputs
};

struct PartEnd {
  bool is_well = false;
  std::string why, said;
  ByteCount peak = 0;
};

class Parts {
 public:
  Parts(const PartsOfCall& input, Session& session)
      : input_(input),
        session_(session),
        files_(session.system.files),
        tools_{input.tools.toolkit, input.tools.nvcc, input.tools.parts.text, input.tools.environment},
        jobs_(JobServer::of(session.system.environment)),
        source_(input.place.own_name(input.call.source)),
        stem_(std::string(k_objects_folder) + "/" + Path(input.call.source).stem().string()) {}

  Result<JoinedObject> make() {
    DSBUILD_CHECK(plan());
    auto tested = std::async(std::launch::async, [this] { return test_slices(); });
    const std::vector<PartEnd> ends = run_all();
    const bool are_as_nvccs = tested.get();
    keep_peaks(ends);
    session_.facts.save();
    for (const PartEnd& end : ends)
      if (!end.is_well) return left_to_nvcc(input_.call.source, end.why);
    if (!are_as_nvccs)
      return left_to_nvcc(input_.call.source, "slices of this toolkit are not what its nvcc makes");
    DSBUILD_TRY(bytes, join_objects());
    DSBUILD_TRY(read, read_by_parts());
    return JoinedObject{std::move(bytes), output_of_tool(ends), headers(), std::move(read), names_root()};
  }

 private:
  Result<void> plan() {
    Args nvcc = input_.tools.nvcc;
    if (input_.tools.toolkit.has_option("--frandom-seed"))
      nvcc.push_back("-frandom-seed=" + std::string(k_any_seed));
    nvcc.insert(nvcc.end(), input_.call.flags.begin(), input_.call.flags.end());
    if (const std::string flag = unsliceable_flag(nvcc); !flag.empty())
      return left_to_nvcc(input_.call.source, "has " + flag);
    const auto commands = learn_commands(nvcc, tools_, session_);
    if (!commands) return left_to_nvcc(input_.call.source, commands.error());
    const bool has_lines = has_line_information(commands->devices.front().compile);
    if (const std::string refusal = why_not_sliced(tools_, has_lines, untested_, session_); !refusal.empty())
      return left_to_nvcc(input_.call.source, refusal);
    preprocess_ = commands->host_preprocess;
    order_ = commands->order;
    said_by_nvcc_ = commands->said;
    return write_parts(*commands);
  }

  Result<void> write_parts(const NvccCommands& commands) {
    DSBUILD_CHECK(files_.write_file(stem_ + k_module_id_end, module_id_of(source_)));
    DSBUILD_CHECK(files_.write_file(stem_ + k_folder_in_objects_end, input_.place.folder + "\n"));
    DSBUILD_CHECK(files_.write_file(stem_ + k_arch_list_end, commands.arch_list + "\n"));
    for (StepFile& step : plan_steps(commands, {})) {
      step.place = input_.place;
      step.environment.insert(input_.tools.looked_at.begin(), input_.tools.looked_at.end());
      const std::string content = render_step_file(step);
      const std::string file = std::string(k_steps_folder) + "/" + sha256(content).substr(0, 16);
      DSBUILD_CHECK(files_.write_file(file, content));
      parts_.push_back({step, file, stem_ + step.outputs.front(), {}});
    }
    for (Part& part : parts_)
      for (size_t i = 0; i < parts_.size(); ++i)
        if (makes_one_of(parts_[i].step.outputs, part.step.inputs)) part.after.push_back(i);
    return {};
  }

  static bool makes_one_of(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs) {
    return std::any_of(outputs.begin(), outputs.end(), [&](const std::string& output) {
      return std::find(inputs.begin(), inputs.end(), output) != inputs.end();
    });
  }

  // What is planned before another is never behind it (plan_steps).
  std::vector<PartEnd> run_all() {
    const Host host = read_host(files_);
    bound_ = {jobs_for(input_.settings, host), memory_for(input_.settings, host)};
    std::vector<ByteCount> needed;
    for (const Part& part : parts_)
      needed.push_back(needed_by(part));
    std::vector<std::shared_future<PartEnd>> running;
    for (size_t i = 0; i < parts_.size(); ++i) {
      std::vector<std::shared_future<PartEnd>> before;
      for (const size_t each : parts_[i].after)
        before.push_back(running[each]);
      running.push_back(std::async(std::launch::async, [this, i, bytes = needed[i], before] {
                          return run_behind(before, parts_[i], bytes);
                        }).share());
    }
    std::vector<PartEnd> ends;
    for (const auto& each : running)
      ends.push_back(each.get());
    return ends;
  }

  PartEnd run_behind(const std::vector<std::shared_future<PartEnd>>& before, const Part& part,
                     ByteCount bytes) {
    for (const auto& each : before)
      if (!each.get().is_well) return {false, each.get().why, {}, 0};
    // Before the turn: who has a turn waits for nobody.
    const auto job = jobs_ ? jobs_->take() : nullptr;
    const auto turn = take_node_turn(input_.folder.shared() / "turns", bound_, bytes);
    if (!turn) return {false, turn.error().where + ": " + turn.error().what, {}, 0};
    const auto result = session_.system.processes.run(command_of(part));
    if (!result) return {false, result.error().what, {}, 0};
    return {result->ok(), "a tool failed", result->out + result->err, result->peak_memory_bytes};
  }

  Command command_of(const Part& part) const {
    Args words = {session_.system.program.string(),
                  "action",
                  "slice",
                  k_nvcc_id_file,
                  part.output,
                  part.step_file,
                  "--"};
    if (!part.step.preprocess.empty()) words.push_back(source_);
    if (part.step.part == "fatbin") words.push_back(input_.call.source);  // images may name it
    return {words, input_.tools.environment, {}, k_longest_part};
  }

  std::string fact_of(const Part& part) const {
    return "memory of a call's part " + part.step.part + " " + (input_.place.root + "/" + source_);
  }

  // The linking of images takes next to nothing.
  ByteCount needed_by(const Part& part) {
    if (part.step.part == "fatbin") return 64ULL << 20;
    if (const auto known = session_.facts.find(fact_of(part), ""))
      if (const auto bytes = whole_number<ByteCount>(*known)) return *bytes;
    if (!reads_torch_) reads_torch_ = may_read_torch();
    return *reads_torch_ ? k_guess_with_torch : k_guess;
  }

  bool may_read_torch() const {
    std::vector<Path> folders;
    for (const std::string& folder : search_folders(preprocess_))
      folders.emplace_back(Path(input_.place.folder) / folder);
    return TorchIncludes(input_.place.root, files_)
               .use(Path(input_.place.folder) / input_.call.source, folders) != TorchUse::none;
  }

  void keep_peaks(const std::vector<PartEnd>& ends) {
    for (size_t i = 0; i < parts_.size(); ++i) {
      const auto known = session_.facts.find(fact_of(parts_[i]), "");
      const ByteCount before = known ? whole_number<ByteCount>(*known).value_or(0) : 0;
      const ByteCount peak = ends[i].peak + ends[i].peak / 8;
      // Of one that was taken from the cache next to nothing is seen.
      if (ends[i].is_well && peak > before) session_.facts.put(fact_of(parts_[i]), "", std::to_string(peak));
    }
  }

  // Once for a toolkit on this machine, by the first call; the others wait for its answer.
  bool test_slices() {
    if (untested_.empty()) return true;
    const auto lock = take_lock(input_.settings.cache_dir / "locks" / "nvcc-self-test", "dsbuild nvcc",
                                std::nullopt, [](const std::string&) {});
    const Path facts_file = input_.settings.facts_file;
    const FactStore facts(files_, facts_file);
    std::erase_if(untested_, [&](const SliceTest& test) {
      return facts.find(test.fact, test.identity) == k_slices_are_the_same;
    });
    if (untested_.empty()) return true;
    Session session(input_.settings, session_.system);
    SliceTests tests(untested_, tools_, input_.settings, session);
    const bool stands = tests.plan_stands();
    session.facts.save();
    return stands;
  }

  // The devices', in the order of the command, then the host's: so nvcc goes through them.
  std::vector<size_t> parts_in_order() const {
    Args names = order_;
    names.insert(names.end(), {"front", "host", "fatbin"});
    std::vector<size_t> indices;
    for (const std::string& name : names)
      for (size_t i = 0; i < parts_.size(); ++i)
        if (parts_[i].step.part == name) indices.push_back(i);
    return indices;
  }

  std::string output_of_tool(const std::vector<PartEnd>& ends) const {
    std::string said = said_by_nvcc_;
    for (const size_t i : parts_in_order())
      said += ends[i].said;
    return said;
  }

  // The host's object and that of the images refer to one another by a symbol, which is to be no other
  // object's.
  Result<std::string> join_objects() {
    const std::string joined = stem_ + ".joined.o";
    const Args link = {input_.tools.toolkit.host->path.string(),
                       "-r",
                       "-nostdlib",
                       "-o",
                       joined,
                       stem_ + ".host.o",
                       stem_ + ".o"};
    const Args hide = {"objcopy", "--localize-symbol=" + images_symbol(module_id_of(source_)), joined};
    for (const Args& command : {link, hide}) {
      DSBUILD_TRY(result,
                  session_.system.processes.run({command, input_.tools.environment, {}, k_longest_part}));
      if (!result.ok())
        return left_to_nvcc(input_.call.source, "its objects cannot be joined: " + trim(result.err));
    }
    return files_.read_file(joined);
  }

  // What the parts' records say.
  Result<FilesRead> read_by_parts() {
    std::set<std::string> read;
    Lists lists(files_, "", store_of_build(session_.system));
    for (const Part& part : parts_) {
      DSBUILD_TRY(text, files_.read_file(record_file(part.output)));
      const auto record = parse_record(text);
      if (!record || !can_hold(*record)) return FilesRead{};
      for (const FileDigest& input : record->inputs)
        if (!is_of_build(input.path)) read.insert(input.path);
      for (std::string& path : lists.paths(record->others))
        read.insert(std::move(path));
    }
    Args command = preprocess_;
    for (std::string& word : command)
      if (word == k_any_source) word = input_.call.source;
    return FilesRead{{read.begin(), read.end()}, input_.place.own_words(std::move(command))};
  }

  // Empty where a part was taken without a look at its text.
  std::vector<std::string> headers() const {
    std::vector<std::string> headers;
    std::set<std::string> seen;
    for (const size_t i : parts_in_order()) {
      if (parts_[i].step.preprocess.empty()) continue;
      const auto text = files_.read_file(stem_ + "." + parts_[i].step.part + k_headers_end);
      if (!text) return {};
      for (const std::string& line : split_lines(*text))
        if (seen.insert(line.substr(1)).second) headers.push_back(line);
    }
    return headers;
  }

  // Parts that were taken without a look at their text have not said so.
  bool names_root() const {
    return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
      return !part.step.preprocess.empty() &&
             files_.kind(stem_ + "." + part.step.part + k_free_of_root_end) != FileKind::file;
    });
  }

  const PartsOfCall& input_;
  Session& session_;
  FileSystem& files_;
  const SlicedTools tools_;
  const std::unique_ptr<JobServer> jobs_;  // of who called us; may be none
  const std::string source_, stem_;        // own names
  std::vector<Part> parts_;
  std::vector<SliceTest> untested_;
  Args preprocess_, order_;
  std::string said_by_nvcc_;
  std::optional<bool> reads_torch_;  // where a part has to be guessed
  NodeBound bound_;
};

}  // namespace

Result<JoinedObject> make_by_parts(const PartsOfCall& input, Session& session) {
  return Parts(input, session).make();
}

}  // namespace dsbuild
