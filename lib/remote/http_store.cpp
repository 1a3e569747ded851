#include "remote/http_store.h"

namespace dsbuild {
namespace {

using State = RemoteAnswer::State;

class HttpStore : public RemoteStore {
 public:
  explicit HttpStore(std::unique_ptr<HttpClient> client) : client_(std::move(client)) {}

  std::vector<RemoteAnswer> get(const std::vector<RemoteName>& names) override {
    return ask(HttpVerb::get, names);
  }
  std::vector<RemoteAnswer> has(const std::vector<RemoteName>& names) override {
    return ask(HttpVerb::head, names);
  }
  std::vector<RemoteAnswer> put(const std::vector<RemoteFile>& files) override {
    std::vector<HttpRequest> requests;
    for (const RemoteFile& file : files)
      requests.push_back({.verb = HttpVerb::put, .url = url_of(file.name), .body = file.bytes});
    return send(requests);
  }
  void cancel() override { client_->cancel(); }

 private:
  std::string url_of(const RemoteName& name) const { return client_->base() + "/" + path_of(name); }
  std::vector<RemoteAnswer> ask(HttpVerb verb, const std::vector<RemoteName>& names) {
    std::vector<HttpRequest> requests;
    for (const RemoteName& name : names)
      requests.push_back({.verb = verb, .url = url_of(name)});
    return send(requests);
  }
  std::vector<RemoteAnswer> send(const std::vector<HttpRequest>& requests) {
    auto responses = client_->send(requests);
    std::vector<RemoteAnswer> answers;
    for (size_t i = 0; i < requests.size(); ++i)
      answers.push_back(answer_of_response(requests[i].verb, std::move(responses[i]), client_->origin()));
    return answers;
  }

  const std::unique_ptr<HttpClient> client_;
};

State state_of(bool is_put, const HttpResponse& response) {
  switch (response.status) {
    case 0:
      return response.is_too_large || response.has_no_credentials ? State::refused : State::failed;
    case 200:
    case 201:
    case 204:
      return State::done;
    case 404:
    case 410:
      return is_put ? State::refused : State::absent;
    case 401:
    case 403:
    case 413:
    case 507:
      return State::refused;
    case 405:
    case 501:
      return is_put ? State::refused : State::failed;
    default:
      return State::failed;
  }
}

}  // namespace

RemoteAnswer answer_of_response(HttpVerb verb, HttpResponse response, const std::string& origin) {
  RemoteAnswer answer{state_of(verb == HttpVerb::put, response)};
  if (answer.state == State::done && verb == HttpVerb::get) answer.bytes = std::move(response.body);
  if (answer.state == State::done || answer.state == State::absent) return answer;
  answer.why = origin + ": " + (response.status == 0 ? response.why : describe_status(verb, response.status));
  return answer;
}

Result<std::unique_ptr<RemoteStore>> open_http_store(HttpOptions options, const FileReader& files) {
  DSBUILD_TRY(client, open_http_client(std::move(options), files));
  return std::make_unique<HttpStore>(std::move(client));
}

}  // namespace dsbuild
