#include "remote/credential_helper.h"

#include <algorithm>

#include "base/json.h"
#include "remote/http_client.h"
#include "remote/utc_time.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

constexpr std::chrono::seconds k_time_limit{10};
constexpr int64_t k_early_seconds = 60;
constexpr int64_t k_seconds_between_failures = 10;

bool is_header(const std::string& name, const std::string& value) {
  const bool is_name = !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  return is_name && is_header_value(value);
}

// nullopt: it is no answer of the protocol.
std::optional<std::vector<std::string>> read_headers(const Json& answer) {
  if (answer.members() == nullptr) return std::nullopt;
  const Json* const headers = answer.find("headers");
  if (headers == nullptr) return std::vector<std::string>{};
  if (headers->members() == nullptr) return std::nullopt;
  std::vector<std::string> lines;
  for (const JsonMember& header : *headers->members()) {
    if (header.value.items() == nullptr) return std::nullopt;
    for (const Json& value : *header.value.items()) {
      if (value.text() == nullptr || !is_header(header.key, *value.text())) return std::nullopt;
      lines.push_back(header.key + ": " + *value.text());
    }
  }
  return lines;
}

std::string first_line(const std::string& text) {
  const auto lines = split_lines(trim(text));
  return lines.empty() ? "" : ": " + visible(lines.front());
}

}  // namespace

ProgramRunner run_for_secrets(System& system) {
  return [&system](const std::vector<std::string>& argv) -> Result<std::string> {
    if (argv.empty()) return fail(Exit::failed, "bad_remote_url", "", "no program is named");
    Command command;
    command.argv = argv;
    command.env = system.environment;
    command.timeout = k_time_limit;
    const auto run = system.processes.run(command);
    if (!run) return tl::unexpected<Error>(run.error());
    if (run->timed_out)
      return fail(Exit::failed, "bad_remote_url", argv[0],
                  "gives no answer in " + std::to_string(k_time_limit.count()) + " s");
    if (run->exit_code != 0)
      return fail(Exit::failed, "bad_remote_url", argv[0],
                  "ends with exit code " + std::to_string(run->exit_code) + first_line(run->err));
    return run->out;
  };
}

Result<std::vector<std::string>> CredentialHelper::headers(const std::string& uri) {
  const std::lock_guard lock(mutex_);
  if (!known_ || (known_->until && *known_->until <= unix_seconds())) known_ = ask(uri);
  return known_->headers;
}

// Why it failed stands in what it writes to stderr; stdout is for secrets.
CredentialHelper::Answer CredentialHelper::ask(const std::string& uri) {
  const auto bad = [&](const std::string& what) {
    return Answer{
        fail(Exit::failed, "bad_remote_url", program_, what,
             "Run it by hand: echo '{\"uri\": \"" + uri + "\"}' | " + shell_quote(program_) + " get"),
        unix_seconds() + k_seconds_between_failures};
  };
  Command command;
  command.argv = {program_, "get"};
  command.env = system_.environment;
  command.timeout = k_time_limit;
  command.input = Json{{"uri", uri}}.dump() + "\n";
  const auto run = system_.processes.run(command);
  if (!run) return bad(run.error().what);
  if (run->timed_out) return bad("gives no answer in " + std::to_string(k_time_limit.count()) + " s");
  if (run->exit_code != 0)
    return bad("ends with exit code " + std::to_string(run->exit_code) + first_line(run->err));
  const auto answer = Json::parse(run->out);
  const auto headers = answer ? read_headers(*answer) : std::nullopt;
  if (!headers) return bad("its answer is not {\"headers\": {\"Name\": [\"value\"]}}");
  const Json* const expires = answer->find("expires");
  if (expires == nullptr) return {*headers, std::nullopt};
  const auto time = expires->text() != nullptr ? read_iso_time(*expires->text()) : std::nullopt;
  if (!time) return bad("its \"expires\" is not a time, as 2026-01-01T00:00:00Z is");
  return {*headers, *time - k_early_seconds};
}

}  // namespace dsbuild
