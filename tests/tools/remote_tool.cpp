// Works on a remote cache as the mirror does, for tests/faults/remote_*_test.py.
// All names of a call are asked at once.
//   remote_tool get URL KIND DIGEST... [OPTION...]       KIND: ac or cas
//   remote_tool has URL KIND DIGEST... [OPTION...]
//   remote_tool put URL KIND DIGEST... FILE [OPTION...]  the bytes of FILE under each digest
//   remote_tool put-files URL cas FILE... [OPTION...]    each FILE under its own digest
//   remote_tool sign FILE                                prints, for each request of a JSON list, how it is
//   signed
// A DIGEST may have the size of its file: <digest>/<bytes>. Prints for each "<state> <bytes> <SHA-256 of the
// bytes> <why>"; exit code 1 and "error[<code>] <what>" where the cache cannot be opened. Options:
// --deadline-ms=N --connect-ms=N --ca-file=F --cert=F --key=F
// --read-only --no-netrc --helper=PROGRAM
// --cancel-after-ms=N --repeat=N (the call N times, each waits for the one before)
// --threads=N (that in N threads at once). The header
// Authorization is that of the variable REMOTE_AUTHORIZATION: an argument can be seen by other users.
#include <array>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "base/digest.h"
#include "base/json.h"
#include "remote/credential_helper.h"
#include "remote/folder_store.h"
#include "remote/http_store.h"
#include "remote/reapi_store.h"
#include "remote/s3_signature.h"
#include "remote/s3_store.h"
#include "sys/system.h"

namespace {

using namespace dsbuild;
using std::chrono::milliseconds;

struct Call {
  std::vector<std::string> words;
  std::map<std::string, std::string> options;

  std::string option(const std::string& name) const {
    const auto found = options.find(name);
    return found == options.end() ? "" : found->second;
  }
  long number(const std::string& name, long otherwise) const {
    return options.contains(name) ? std::stol(option(name)) : otherwise;
  }
};

Call read_call(const std::vector<std::string>& words) {
  Call call;
  for (const std::string& word : words) {
    if (!word.starts_with("--")) {
      call.words.push_back(word);
      continue;
    }
    const size_t end = word.find('=');
    call.options[word.substr(2, end - 2)] = end == std::string::npos ? "" : word.substr(end + 1);
  }
  return call;
}

Result<std::unique_ptr<RemoteStore>> open_store(const Call& call, System& system) {
  FileSystem& files = system.files;
  const std::string& url = call.words.at(1);
  constexpr std::string_view k_folder = "file://";
  if (url.starts_with(k_folder))
    return open_folder_store(
        make_real_file_system(), url.substr(k_folder.size()), call.options.contains("read-only"),
        {milliseconds(call.number("first-ms", 1'000)), milliseconds(call.number("deadline-ms", 10'000))});
  HttpOptions options;
  options.url = url;
  options.ca_file = call.option("ca-file");
  options.client_cert = call.option("cert");
  options.client_key = call.option("key");
  options.uses_netrc = !call.options.contains("no-netrc");
  options.deadline = milliseconds(call.number("deadline-ms", 10'000));
  options.connect_timeout = milliseconds(call.number("connect-ms", 1'000));
  if (url.starts_with("s3://"))
    return open_s3_store({.url = url,
                          .http = options,
                          .variable = [environment = read_environment()](
                                          const std::string& name) { return variable(environment, name); },
                          .run = run_for_secrets(system),
                          .puts_always = true},
                         files);
  if (const char* const secret = std::getenv("REMOTE_AUTHORIZATION")) options.authorization = secret;
  if (call.options.contains("helper"))
    options.helper = std::make_shared<CredentialHelper>(call.option("helper"), system);
  return url.starts_with("reapi") ? open_reapi_store(std::move(options), files)
                                  : open_http_store(std::move(options), files);
}

RemoteName read_name(RemoteKind kind, const std::string& word) {
  const size_t slash = word.find('/');
  if (word.starts_with("/") || slash == std::string::npos) return {kind, word};
  return {kind, word.substr(0, slash), std::stoull(word.substr(slash + 1))};
}

std::vector<RemoteFile> read_files(const Call& call, const FileReader& files) {
  std::vector<RemoteFile> found;
  for (size_t i = 3; i < call.words.size(); ++i) {
    std::string bytes = files.read_file(call.words[i]).value();
    const RemoteName name{RemoteKind::cas, sha256(bytes)};
    found.push_back({name, std::move(bytes)});
  }
  return found;
}

std::vector<RemoteAnswer> ask(const Call& call, RemoteStore& store, const FileReader& files) {
  const RemoteKind kind = call.words.at(2) == "ac" ? RemoteKind::ac : RemoteKind::cas;
  std::vector<RemoteName> names;
  for (size_t i = 3; i < call.words.size(); ++i)
    names.push_back(read_name(kind, call.words[i]));
  if (call.words[0] == "get") return store.get(names);
  if (call.words[0] == "has") return store.has(names);
  if (call.words[0] == "put-files") return store.put(read_files(call, files));
  const std::string bytes = files.read_file(call.words.back()).value();
  names.pop_back();
  std::vector<RemoteFile> wanted;
  for (const RemoteName& name : names)
    wanted.push_back({name, bytes});
  return store.put(wanted);
}

void print(const std::vector<RemoteAnswer>& answers) {
  constexpr std::array k_states = {"done", "absent", "refused", "failed"};
  for (const RemoteAnswer& answer : answers)
    std::cout << k_states.at(static_cast<size_t>(answer.state)) << " " << answer.bytes.size() << " "
              << sha256(answer.bytes) << " " << answer.why << std::endl;
}

void ask_often(const Call& call, RemoteStore& store, const FileReader& files) {
  static std::mutex printing;
  for (long round = call.number("repeat", 1); round > 0; --round) {
    const auto answers = ask(call, store, files);
    const std::lock_guard lock(printing);
    print(answers);
  }
}

std::string text_of(const Json& request, const char* name) {
  return *request.find(name)->text();
}

std::vector<std::pair<std::string, std::string>> pairs_of(const Json& request, const char* name) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const JsonMember& member : *request.find(name)->members())
    pairs.emplace_back(member.key, *member.value.text());
  return pairs;
}

int sign(const Path& file, const FileReader& files) {
  Json signatures = Json::array();
  const auto requests = Json::parse(files.read_file(file).value());
  for (const Json& request : *requests->items()) {
    const AwsRequest wanted{text_of(request, "verb"),     text_of(request, "host"),
                            text_of(request, "path"),     pairs_of(request, "query"),
                            pairs_of(request, "headers"), text_of(request, "payload")};
    const AwsKeys keys{text_of(request, "id"), text_of(request, "secret"), text_of(request, "token")};
    const AwsScope scope{text_of(request, "region"), text_of(request, "service")};
    const auto seconds = static_cast<int64_t>(*request.find("seconds")->number());
    signatures.push_back(Json{{"url", aws_url("https", wanted)},
                              {"headers", Json(sign_request(wanted, keys, scope, seconds))}});
  }
  std::cout << signatures.dump() << std::endl;
  return 0;
}

int run(const Call& call) {
  if (call.words.at(0) == "sign") return sign(call.words.at(1), *make_real_file_system());
  const auto files = make_real_file_system();
  const auto processes = make_real_process_runner();
  System system{*files, *processes, read_environment()};
  const auto store = open_store(call, system);
  if (!store) {
    std::cout << "error[" << store.error().code << "] " << store.error().where << ": " << store.error().what
              << "\n";
    return 1;
  }
  std::vector<std::thread> threads;
  for (long i = call.number("threads", 1); i > 0; --i)
    threads.emplace_back([&] { ask_often(call, **store, *files); });
  if (const long wait = call.number("cancel-after-ms", 0); wait > 0) {
    std::this_thread::sleep_for(milliseconds(wait));
    (*store)->cancel();
  }
  for (std::thread& thread : threads)
    thread.join();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return run(read_call({argv + 1, argv + argc}));
}
