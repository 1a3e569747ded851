#include "exec/engine.h"

#include "base/digest.h"

namespace dsbuild {
std::optional<ToolResult> Stepper::find(const ResultKey& key, const std::string& lines,
                                        Engine& engine) const {
  return engine.results().find(key.digest, output_names(), lines);
}

void Stepper::store(const ResultKey& key, const ToolResult& result, Engine& engine) const {
  engine.results().put(key.digest, result);
}

void EdgeAdmission::acquire_probe() {
  turn_.acquire_probe();
  state_ = State::looks;
}

void EdgeAdmission::expect(const SeenText& text) {
  text_ = text;
  state_ = State::expects;
}

void EdgeAdmission::enter() {
  if (state_ != State::expects) return;
  turn_.acquire_full(text_);
  state_ = State::works;
}

void EdgeAdmission::leave() {
  if (state_ == State::out) return;
  turn_.leave();
  state_ = State::expects;
}

Result<StepEnd> Engine::drive(Stepper& stepper) {
  if (auto known = stepper.is_cached() ? stepper.lookup(action_) : std::nullopt) {
    if (auto taken = take(stepper, known->result)) {
      for (const ToolOutput& output : known->tool_output)
        print_(stepper.shown(output.text));
      taken->record = std::move(*known);
      return finish(stepper, std::move(*taken));
    }
  }
  if (stepper.is_cached()) action_.note_difference();
  DSBUILD_TRY(made, stepper.make(*this));
  if (made.code != 0) {
    note_use(stepper, made);
    return StepEnd{made.code, ResultOrigin::nothing_said};
  }
  store(stepper, made);
  return finish(stepper, std::move(made));
}

std::optional<Made> Engine::take(const Stepper& stepper, const ResultKey& key, const std::string& lines) {
  if (keeps_nothing_ || key.empty()) return std::nullopt;
  if (auto last = take_last(stepper, key, lines)) return last;
  auto found = stepper.find(key, lines, *this);
  if (!found) return std::nullopt;
  Made made{0, ResultOrigin::cache, std::move(found->outputs), {}, {}};
  made.record.tool_output = std::move(found->tool_output);
  return made;
}

std::optional<Made> Engine::take_last(const Stepper& stepper, const ResultKey& key,
                                      const std::string& lines) {
  const auto& last = action_.last();
  const std::vector<std::string> names = stepper.output_names();
  if (names.empty() || !last || last->result != key || !names_lines_of(*last, lines) ||
      !action_.has_last_outputs())
    return std::nullopt;
  Made made{0, ResultOrigin::same_input, {}, {}, {}};
  made.record.tool_output = output_after_preprocessor(*last);
  for (const std::string& name : names)
    made.outputs.push_back({name, ""});
  return made;
}

void Engine::keep_nothing() {
  keeps_nothing_ = true;
  results_.close();
}

Result<ProcessResult> Engine::run(ToolRun run) {
  run.admission = admission_.get();
  DSBUILD_TRY(result, runner_.wait(runner_.submit(std::move(run))));
  turn_.add_peak(result.peak_memory_bytes);
  ran_elsewhere_ = ran_elsewhere_ || result.ran_elsewhere;
  milliseconds_ += result.cpu_milliseconds;
  return result;
}

void Engine::store(const Stepper& stepper, Made& made) {
  const bool is_new = made.made_of != ResultOrigin::cache && made.made_of != ResultOrigin::same_input;
  if (!is_new || !stepper.is_cached() || !can_hold(made.record)) return;
  if (!made.outputs.empty() && milliseconds_of(made.outputs) == 0)
    made.outputs.front().milliseconds = take_milliseconds();
  const ToolResult result{made.outputs, made.record.tool_output, {}};
  if (made.record.result.empty()) made.record.result = key_of_result(made.record, result);
  stepper.store(made.record.result, result, *this);
}

Result<StepEnd> Engine::finish(const Stepper& stepper, Made made) {
  note_use(stepper, made);
  DSBUILD_CHECK(stepper.clear_others(made.outputs, files()));
  if (made.made_of != ResultOrigin::same_input) DSBUILD_CHECK(publish(stepper, made));
  std::vector<std::string> paths;
  for (const StoredFile& output : made.outputs)
    paths.push_back(stepper.path_of(output.name));
  DSBUILD_TRY(outputs, action_.digests_of(paths));
  made.record.outputs = std::move(outputs);
  if (stepper.is_cached()) stepper.share(action_, made.record);
  DSBUILD_CHECK(stepper.complete(made.record, action_));
  DSBUILD_CHECK(action_.write(std::move(made.record)));
  return StepEnd{0, made.made_of};
}

// Only what differs is written, so what comes after an edge runs only if there is something new.
Result<void> Engine::publish(const Stepper& stepper, const Made& made) {
  for (const StoredFile& output : made.outputs) {
    const Path path = stepper.path_of(output.name);
    const auto before = files().read_file(path);
    const bool is_same = before && *before == output.bytes;
    if (is_same) continue;
    if (!made.temporary.empty()) return files().rename(made.temporary, path);
    if (path.has_parent_path()) DSBUILD_CHECK(files().make_directories(path.parent_path()));
    DSBUILD_CHECK(files().write_file(path, output.bytes));
  }
  return made.temporary.empty() ? Result<void>() : files().remove_all(made.temporary);
}

// Counted once for an edge, and where the outputs were not here already.
void Engine::note_use(const Stepper& stepper, const Made& made) {
  if (!stepper.is_cached() || !action_.cache() || keeps_nothing_ || made.made_of == ResultOrigin::same_input)
    return;
  if (made.made_of == ResultOrigin::cache)
    note_cache_hit({made.record.result.digest, milliseconds_of(made.outputs), action_.output()}, files());
  else
    note_cache_miss(files());
}

}  // namespace dsbuild
