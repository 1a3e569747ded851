#include "remote/s3_store.h"

#include <optional>

#include "remote/aws_profile.h"
#include "remote/s3_answer.h"
#include "remote/s3_multipart.h"
#include "remote/s3_session.h"

namespace dsbuild {
namespace {

using State = RemoteAnswer::State;
using KeyState = AwsCredentials::State;

class S3Store : public RemoteStore {
 public:
  S3Store(std::unique_ptr<S3Session> session, bool puts_always)
      : session_(std::move(session)), puts_always_(puts_always) {}

  std::vector<RemoteAnswer> get(const std::vector<RemoteName>& names) override {
    return ask(HttpVerb::get, names);
  }
  std::vector<RemoteAnswer> has(const std::vector<RemoteName>& names) override {
    return ask(HttpVerb::head, names);
  }
  std::vector<RemoteAnswer> put(const std::vector<RemoteFile>& files) override;
  bool may_put() override { return puts_always_ || session_->credentials().state != KeyState::none; }
  void cancel() override { session_->cancel(); }

 private:
  std::string key_of(const RemoteName& name) const { return session_->key_of(path_of(name)); }
  std::vector<RemoteAnswer> ask(HttpVerb verb, const std::vector<RemoteName>& names);
  RemoteAnswer answer_of_forbidden(HttpVerb verb, HttpResponse response, const AwsCredentials& credentials);
  bool may_list(const AwsCredentials& credentials);

  const std::unique_ptr<S3Session> session_;
  const bool puts_always_;
  std::mutex mutex_;  // of what follows
  std::optional<bool> may_list_;
};

bool has_no_answer(const AwsCredentials& credentials) {
  return credentials.state == KeyState::refused || credentials.state == KeyState::failed;
}

std::vector<RemoteAnswer> S3Store::ask(HttpVerb verb, const std::vector<RemoteName>& names) {
  const AwsCredentials credentials = session_->credentials();
  if (has_no_answer(credentials)) return {names.size(), answer_of_credentials(credentials)};
  std::vector<S3Request> requests;
  for (const RemoteName& name : names)
    requests.push_back({.verb = verb, .key = key_of(name)});
  std::vector<RemoteAnswer> answers;
  for (HttpResponse& response : session_->send(requests, credentials))
    answers.push_back(may_be_absent(response) ? answer_of_forbidden(verb, std::move(response), credentials)
                                              : answer_of_s3(verb, std::move(response), session_->name()));
  return answers;
}

// Who may list the bucket is told 404 of what is missing, so that 403 is meant. Who may not, and has keys, is
// taken to miss the object: a policy for readers needs s3:GetObject alone. Without keys nobody has given us
// leave, and we say so.
RemoteAnswer S3Store::answer_of_forbidden(HttpVerb verb, HttpResponse response,
                                          const AwsCredentials& credentials) {
  const bool has_keys = credentials.state == KeyState::found;
  if (has_keys && !may_list(credentials)) return {State::absent, {}, {}};
  RemoteAnswer answer = answer_of_s3(verb, std::move(response), session_->name());
  if (!has_keys) answer.why += "; no credentials of AWS are found here";
  return answer;
}

bool S3Store::may_list(const AwsCredentials& credentials) {
  const std::lock_guard lock(mutex_);
  if (!may_list_) {
    const S3Request list{.query = {{"list-type", "2"}, {"max-keys", "1"}, {"prefix", session_->key_of("")}}};
    const HttpResponse response = session_->send({list}, credentials).front();
    if (response.status == 0) return false;  // asked again, then
    may_list_ = response.is_success();
  }
  return *may_list_;
}

std::vector<RemoteAnswer> S3Store::put(const std::vector<RemoteFile>& files) {
  const AwsCredentials credentials = session_->credentials();
  if (has_no_answer(credentials)) return {files.size(), answer_of_credentials(credentials)};
  std::vector<RemoteAnswer> answers(files.size());
  std::vector<S3Request> requests;
  std::vector<size_t> whole;
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].bytes.size() > k_multipart_bytes) {
      answers[i] = put_in_parts(*session_, key_of(files[i].name), files[i].bytes, credentials);
    } else {
      whole.push_back(i);
      requests.push_back({.verb = HttpVerb::put, .key = key_of(files[i].name), .body = files[i].bytes});
    }
  }
  auto responses = session_->send(requests, credentials);
  for (size_t i = 0; i < whole.size(); ++i)
    answers[whole[i]] = answer_of_s3(HttpVerb::put, std::move(responses[i]), session_->name());
  return answers;
}

}  // namespace

Result<std::unique_ptr<RemoteStore>> open_s3_store(S3Options options, const FileReader& files) {
  DSBUILD_TRY(place, parse_s3_url(options.url, with_region_of_profile(options.variable, files)));
  HttpOptions& http = options.http;
  for (const char* name : {"AWS_CA_BUNDLE", "SSL_CERT_FILE"})
    if (http.ca_file.empty()) http.ca_file = options.variable(name);
  HttpOptions others = http;  // who gives us keys is a different server
  others.client_cert = others.client_key = "";
  auto chain = std::make_unique<AwsCredentialChain>(
      AwsCredentialOptions{options.variable, place.region, std::move(others), options.run}, files);
  const S3Server server = server_of(place);
  http.url = server.scheme + "://" + server.host;
  http.uses_netrc = false;
  DSBUILD_TRY(client, open_http_client(http, files));
  auto session = std::make_unique<S3Session>(std::move(place), std::move(http), std::move(client),
                                             std::move(chain), files);
  return std::make_unique<S3Store>(std::move(session), options.puts_always);
}

}  // namespace dsbuild
