#include "exec/build_runner.h"

#include <atomic>

#include "base/base64.h"
#include "base/json.h"
#include "sys/request_server.h"

namespace dsbuild {
namespace {

Json json_of(const Environment& environment) {
  Json object = Json::object();
  for (const auto& [name, value] : environment)
    object.add(name, value);
  return object;
}

// In base64, for tools may write bytes that are no text.
std::string bytes_in(const Json& object, const char* name) {
  return base64_decoded(text_at(object, name)).value_or("");
}

uint64_t number_in(const Json& object, const char* name) {
  const Json* value = object.find(name);
  return value ? value->number().value_or(0) : 0;
}

}  // namespace

Runner::Handle BuildRunner::submit(ToolRun run) {
  return threads_.start([this, run = std::move(run)](const std::stop_token& stop) {
    return run.hermetic ? this->run(run, stop) : run_here(run, stop);
  });
}

Result<ProcessResult> BuildRunner::run_here(const ToolRun& run, const std::stop_token& stop) {
  if (run.admission != nullptr) run.admission->enter();
  Command command = run.command;
  command.stop = stop;
  return system_.processes.run(command);
}

Result<ProcessResult> BuildRunner::run(const ToolRun& run, const std::stop_token& stop) {
  const std::string request = system_.files.absolute(run.command.cwd / k_request_name).string();
  if (!write_request(run)) return run_here(run, stop);
  if (run.admission != nullptr) run.admission->leave();
  const std::string answer = ask(std::string(k_execute) + " " + request);
  std::optional<ProcessResult> there;
  if (answer == k_done) there = take(run);
  if (answer.starts_with(k_race)) {
    auto raced = race(run, answer.substr(std::string_view(k_race).size() + 1), stop);
    clear(run);
    return raced;
  }
  if (there && there->ok()) {
    clear(run);
    return std::move(*there);
  }
  auto here = run_here(run, stop);
  if (there && here && here->ok()) (void)ask(std::string(k_wrong) + " " + request);
  clear(run);
  return here;
}

// On both sides.
Result<ProcessResult> BuildRunner::race(const ToolRun& run, const std::string& number,
                                        const std::stop_token& stop) {
  std::stop_source here_is_late;
  const std::stop_callback cancel(stop, [&] { here_is_late.request_stop(); });
  std::atomic<bool> is_done_there = false;
  std::thread waits([&] {
    if (ask(std::string(k_wait) + " " + number) != k_done) return;
    const auto there = take(run);
    is_done_there = there && there->ok();
    if (is_done_there) here_is_late.request_stop();
  });
  auto here = run_here(run, here_is_late.get_token());
  (void)ask(std::string(k_cancel) + " " + number);
  waits.join();
  if (here && here->ok()) return here;
  // What the tool here had begun to write is written again.
  auto there = is_done_there ? take(run) : std::nullopt;
  if (there) return std::move(*there);
  return here;
}

// "": nobody is there.
std::string BuildRunner::ask(const std::string& question) const {
  RequestClient client(system_.environment, k_execution_variable);
  return client.ask(question).value_or("");
}

bool BuildRunner::write_request(const ToolRun& run) const {
  const auto& [command, hermetic, admission] = run;
  const Json request = {
      {"output", output_},          {"argv", command.argv},         {"environment", json_of(command.env)},
      {"inputs", hermetic->inputs}, {"outputs", hermetic->outputs}, {"required", hermetic->required}};
  return system_.files.write_file(command.cwd / k_request_name, request.dump()).has_value();
}

// nullopt: what is there is not whole.
std::optional<ProcessResult> BuildRunner::take(const ToolRun& run) const {
  const Path& folder = run.command.cwd;
  const auto text = system_.files.read_file(folder / k_answer_name);
  const auto answer = text ? Json::parse(*text) : std::nullopt;
  if (!answer) return std::nullopt;
  ProcessResult result;
  result.exit_code = static_cast<int>(number_in(*answer, "exit_code"));
  result.out = bytes_in(*answer, "out");
  result.err = bytes_in(*answer, "err");
  result.cpu_milliseconds = number_in(*answer, "milliseconds");
  result.ran_elsewhere = true;
  if (result.exit_code != 0) return result;
  for (const std::string& output : run.hermetic->outputs) {
    const auto bytes = system_.files.read_file(folder / k_outputs_name / output);
    if (!bytes && system_.files.kind(folder / k_outputs_name / output) == FileKind::absent) continue;
    if (!bytes || !system_.files.write_file(folder / output, *bytes)) return std::nullopt;
  }
  return result;
}

void BuildRunner::clear(const ToolRun& run) const {
  for (const char* name : {k_request_name, k_answer_name, k_outputs_name})
    (void)system_.files.remove_all(run.command.cwd / name);
}

}  // namespace dsbuild
