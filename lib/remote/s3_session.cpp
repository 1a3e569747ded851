#include "remote/s3_session.h"

#include <cstdlib>

#include "base/digest.h"
#include "remote/utc_time.h"
#include "remote/xml_text.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

// Of two clocks that differ by less S3 takes requests.
constexpr int64_t k_small_offset = 30;

// A redirect names the bucket's region; so does the refusal of a signature for a different one.
bool is_of_region(const HttpResponse& response) {
  return response.status == 301 || response.status == 307 ||
         (response.status == 400 && (s3_error_code(response) == "AuthorizationHeaderMalformed" ||
                                     !response.header("x-amz-bucket-region").empty()));
}

std::string region_of(const HttpResponse& response) {
  const std::string told = response.header("x-amz-bucket-region");
  return told.empty() ? xml_text(response.body, "Region") : told;
}

bool is_of_keys(const HttpResponse& response) {
  const std::string code = s3_error_code(response);
  return code == "ExpiredToken" || code == "TokenRefreshRequired" || code == "InvalidToken";
}

}  // namespace

std::string s3_error_code(const HttpResponse& response) {
  return response.status >= 300 ? xml_text(response.body, "Code") : "";
}

S3Session::S3Session(S3Place place, HttpOptions http, std::unique_ptr<HttpClient> client,
                     std::unique_ptr<AwsCredentialChain> credentials, const FileReader& files)
    : place_(std::move(place)),
      http_(std::move(http)),
      client_(std::move(client)),
      credentials_(std::move(credentials)),
      files_(files),
      known_{place_.region, 0} {}

std::string S3Session::name() const {
  const S3Server server = server_of(place_);
  return "s3://" + place_.bucket + " at " + server.scheme + "://" + server.host;
}

std::string S3Session::key_of(const std::string& name) const {
  return place_.prefix.empty() ? name : place_.prefix + "/" + name;
}

void S3Session::cancel() {
  credentials_->cancel();
  client_->cancel();
}

S3Session::Known S3Session::known() const {
  const std::lock_guard lock(mutex_);
  return known_;
}

// Without keys a request is not signed: the bucket is public, or refuses it.
HttpRequest S3Session::signed_request(const S3Request& request, const AwsCredentials& credentials,
                                      const Known& known) const {
  S3Place place = place_;
  place.region = known.region;
  const S3Server server = server_of(place);
  const AwsRequest plain{http_verb_name(request.verb),
                         server.host,
                         server.root + (request.key.empty() && !server.root.empty() ? "" : "/" + request.key),
                         request.query,
                         {},
                         sha256(request.body)};
  HttpRequest sent{.verb = request.verb,
                   .url = aws_url(server.scheme, plain),
                   .body = request.body,
                   .follows_redirects = false};
  if (credentials.state == AwsCredentials::State::found)
    sent.headers =
        sign_request(plain, credentials.keys, {known.region, "s3"}, unix_seconds() + known.clock_offset);
  return sent;
}

std::vector<HttpResponse> S3Session::send(const std::vector<S3Request>& requests,
                                          const AwsCredentials& first_credentials) {
  AwsCredentials credentials = first_credentials;
  std::vector<HttpResponse> responses(requests.size());
  std::vector<Open> open;
  for (size_t i = 0; i < requests.size(); ++i)
    open.push_back({i});
  while (!open.empty()) {
    const Known used = known();
    const AwsCredentials used_credentials = credentials;
    std::vector<HttpRequest> sent;
    for (const Open& one : open)
      sent.push_back(signed_request(requests[one.index], used_credentials, used));
    auto answers = client_->send(sent);
    std::vector<Open> again;
    for (size_t i = 0; i < open.size(); ++i) {
      if (mend(open[i], answers[i], used, credentials))
        again.push_back(open[i]);
      else
        responses[open[i].index] = std::move(answers[i]);
    }
    open = std::move(again);
  }
  return responses;
}

void S3Session::send_at_last(const S3Request& request, const AwsCredentials& credentials) {
  HttpOptions options = http_;
  options.deadline = std::chrono::milliseconds(2'000);
  auto client = open_http_client(std::move(options), files_);
  if (client) (void)(*client)->send({signed_request(request, credentials, known())});
}

// Whether the request is to be sent again.
bool S3Session::mend(Open& open, const HttpResponse& response, const Known& used,
                     AwsCredentials& credentials) {
  const auto once = [](bool& done) { return !std::exchange(done, true); };
  if (is_of_region(response)) return once(open.mended_region) && mend_region(response, used);
  if (s3_error_code(response) == "RequestTimeTooSkewed")
    return once(open.mended_clock) && mend_clock(response, used);
  if (is_of_keys(response)) return once(open.mended_keys) && mend_keys(credentials);
  return false;
}

// AWS's own hosts have their region in their name; a server of others keeps its name. Nothing is ever sent to
// where a redirect leads, for the session's token would go with it.
bool S3Session::mend_region(const HttpResponse& response, const Known& used) {
  const std::string region = region_of(response);
  if (!is_region(region) || region == used.region) return false;
  const std::lock_guard lock(mutex_);
  known_.region = region;
  return true;
}

bool S3Session::mend_clock(const HttpResponse& response, const Known& used) {
  const auto theirs = read_http_date(response.header("date"));
  if (!theirs) return false;
  const int64_t offset = *theirs - unix_seconds();
  if (std::abs(offset - used.clock_offset) < k_small_offset) return false;
  const std::lock_guard lock(mutex_);
  known_.clock_offset = offset;
  return true;
}

// Of several requests that were sent with the old keys the first gets new ones, and the others use them.
bool S3Session::mend_keys(AwsCredentials& credentials) {
  AwsCredentials newer = credentials_->find(credentials.keys);
  const bool is_new = newer.state == AwsCredentials::State::found && newer.keys != credentials.keys;
  if (is_new) credentials = std::move(newer);
  return is_new;
}

}  // namespace dsbuild
