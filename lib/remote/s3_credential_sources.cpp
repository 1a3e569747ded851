#include "remote/s3_credential_sources.h"

#include <algorithm>
#include <array>

#include "base/digest.h"
#include "base/json.h"
#include "base/uri.h"
#include "remote/utc_time.h"
#include "remote/xml_text.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

using KeyState = AwsCredentials::State;
using std::chrono::milliseconds;

constexpr milliseconds k_keys_deadline{5'000};
constexpr double k_instance_seconds = 1.0;  // for all of its three requests

AwsCredentials no_keys(KeyState state, std::string why) {
  return {.state = state, .why = std::move(why)};
}

// What a server answers instead of keys: 4xx will not change, the others may.
AwsCredentials no_keys(const std::string& place, const HttpResponse& response) {
  const std::string code = xml_text(response.body, "Code"), message = xml_text(response.body, "Message");
  std::string said = response.status == 0 ? response.why : "status " + std::to_string(response.status);
  if (!code.empty()) said += " " + visible(code);
  if (!message.empty()) said += ": " + visible(message);
  const bool is_final = response.status >= 400 && response.status < 500 && response.status != 429;
  return no_keys(is_final ? KeyState::refused : KeyState::failed, place + ": " + said);
}

AwsCredentials keys_or_trouble(const std::string& place, AwsKeys keys, const std::string& expires) {
  if (keys.id.empty() || keys.secret.empty())
    return no_keys(KeyState::failed, place + ": its answer has no keys");
  return {KeyState::found, std::move(keys), read_iso_time(expires), {}};
}

// As containers and instances are given them.
AwsCredentials read_json_keys(const std::string& place, const HttpResponse& response) {
  if (!response.is_success()) return no_keys(place, response);
  const auto document = Json::parse(response.body);
  if (!document) return no_keys(KeyState::failed, place + ": its answer is not JSON");
  return keys_or_trouble(
      place,
      {text_at(*document, "AccessKeyId"), text_at(*document, "SecretAccessKey"), text_at(*document, "Token")},
      text_at(*document, "Expiration"));
}

std::string form_of(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : fields)
    parts.push_back(name + "=" + uri_encode(value, false));
  return join(parts, "&");
}

// The token that goes there must not be read by others on the way.
bool may_give_keys(const std::string& url) {
  constexpr std::array k_hosts = {"127.0.0.1",     "localhost",      "[::1]",
                                  "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"};
  if (url.starts_with("https://")) return true;
  return std::ranges::any_of(k_hosts, [&](const std::string& host) {
    const std::string start = "http://" + host;
    return url.starts_with(start) && url.find_first_of(":/", start.size()) == start.size();
  });
}

}  // namespace

AwsCredentials AwsCredentialSources::ask() {
  AwsCredentials found = first_found();
  const AwsKeys& keys = found.keys;
  if (is_header_value(keys.id) && is_header_value(keys.secret) && is_header_value(keys.token)) return found;
  return no_keys(KeyState::refused, "the keys of AWS hold a line break or a letter that no header can carry");
}

AwsCredentials AwsCredentialSources::first_found() {
  if (auto found = from_variables()) return *found;
  if (auto found = from_web_identity()) return *found;
  if (auto found = from_profile()) return *found;
  if (auto found = from_container()) return *found;
  return from_instance().value_or(AwsCredentials{});
}

void AwsCredentialSources::cancel() {
  const std::lock_guard lock(mutex_);
  is_cancelled_ = true;
  if (client_) client_->cancel();
}

// No connection is needed for long, and each place is a server of its own.
HttpResponse AwsCredentialSources::send(const HttpRequest& request, milliseconds deadline, Proxy proxy) {
  HttpOptions options = options_.http;
  options.url = request.url.substr(0, request.url.find('?'));
  options.uses_netrc = false;
  options.uses_proxy = proxy == Proxy::as_set;
  options.deadline = deadline;
  options.connect_timeout = std::min(options.connect_timeout, deadline);
  auto opened = open_http_client(std::move(options), files_);
  if (!opened) return {.why = opened.error().what};
  const std::shared_ptr<HttpClient> client = std::move(*opened);
  {
    const std::lock_guard lock(mutex_);
    if (is_cancelled_) return {.why = "the call was cancelled"};
    client_ = client;
  }
  HttpResponse response = client->send({request}).front();
  const std::lock_guard lock(mutex_);
  client_.reset();
  return response;
}

Result<std::string> AwsCredentialSources::read_token(const std::string& file) const {
  DSBUILD_TRY(text, files_.read_file(file));
  std::string token = trim(text);
  const bool is_token =
      !token.empty() && std::ranges::all_of(token, [](char c) { return c > ' ' && c != '\x7f'; });
  if (is_token) return token;
  return fail(Exit::usage, "bad_remote_url", file, "it holds no token of one word");
}

AwsCredentialSources::Found AwsCredentialSources::from_variables() const {
  AwsKeys keys{variable("AWS_ACCESS_KEY_ID"), variable("AWS_SECRET_ACCESS_KEY"),
               variable("AWS_SESSION_TOKEN")};
  if (keys.id.empty() && keys.secret.empty()) return std::nullopt;
  if (keys.id.empty())
    return no_keys(KeyState::refused, "AWS_SECRET_ACCESS_KEY is set, and AWS_ACCESS_KEY_ID is not");
  if (keys.secret.empty())
    return no_keys(KeyState::refused, "AWS_ACCESS_KEY_ID is set, and AWS_SECRET_ACCESS_KEY is not");
  return AwsCredentials{KeyState::found, std::move(keys), {}, {}};
}

AwsCredentialSources::Found AwsCredentialSources::from_web_identity() {
  const std::string file = variable("AWS_WEB_IDENTITY_TOKEN_FILE"), role = variable("AWS_ROLE_ARN");
  if (file.empty() || role.empty()) return std::nullopt;
  return keys_of_web_identity(file, role, variable("AWS_ROLE_SESSION_NAME"));
}

// The file is read each time: whoever runs the job renews it.
AwsCredentials AwsCredentialSources::keys_of_web_identity(const std::string& file, const std::string& role,
                                                          const std::string& session) {
  const auto token = read_token(file);
  if (!token)
    return no_keys(KeyState::refused, "the token of a web identity (AWS_WEB_IDENTITY_TOKEN_FILE) " +
                                          token.error().where + ": " + token.error().what);
  return ask_sts("AssumeRoleWithWebIdentity", session, {{"RoleArn", role}, {"WebIdentityToken", *token}}, {});
}

// `keys`: those that sign the request; without an id it is not signed.
AwsCredentials AwsCredentialSources::ask_sts(const std::string& action, const std::string& session,
                                             std::vector<std::pair<std::string, std::string>> fields,
                                             const AwsKeys& keys) {
  std::string endpoint = variable("AWS_ENDPOINT_URL_STS");
  if (endpoint.empty()) endpoint = variable("AWS_ENDPOINT_URL");
  if (endpoint.empty()) endpoint = "https://" + aws_host("sts", options_.region);
  if (!endpoint.ends_with('/')) endpoint += "/";
  fields.insert(fields.begin(), {{"Action", action},
                                 {"Version", "2011-06-15"},
                                 {"RoleSessionName", session.empty() ? "dsbuild" : session}});
  const std::string form = form_of(fields), type = "application/x-www-form-urlencoded";
  std::vector<std::string> headers = {"Content-Type: " + type};
  if (!keys.id.empty()) {
    const size_t host = endpoint.find("://") + 3, path = endpoint.find('/', host);
    headers = sign_request({.verb = "POST",
                            .host = endpoint.substr(host, path - host),
                            .path = endpoint.substr(path),
                            .headers = {{"Content-Type", type}},
                            .payload_digest = sha256(form)},
                           keys, {options_.region, "sts"}, unix_seconds());
  }
  const HttpResponse response =
      send({.verb = HttpVerb::post, .url = endpoint, .headers = std::move(headers), .body = form},
           k_keys_deadline, Proxy::as_set);
  if (!response.is_success()) return no_keys(action, response);
  return keys_or_trouble(action,
                         {xml_text(response.body, "AccessKeyId"), xml_text(response.body, "SecretAccessKey"),
                          xml_text(response.body, "SessionToken")},
                         xml_text(response.body, "Expiration"));
}

AwsCredentialSources::Found AwsCredentialSources::from_container() {
  const std::string relative = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const std::string url =
      relative.empty() ? variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") : "http://169.254.170.2" + relative;
  if (url.empty()) return std::nullopt;
  const std::string place = "credentials of the container";
  if (!may_give_keys(url))
    return no_keys(KeyState::refused,
                   place + ": AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor of this machine");
  HttpRequest request{.url = url, .follows_redirects = false};
  std::string token = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (const std::string file = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); !file.empty()) {
    const auto read = read_token(file);
    if (!read)
      return no_keys(KeyState::refused, place + ": " + read.error().where + ": " + read.error().what);
    token = *read;
  }
  if (token.find_first_of("\r\n") != std::string::npos)
    return no_keys(KeyState::refused, place + ": AWS_CONTAINER_AUTHORIZATION_TOKEN has a line break");
  if (!token.empty()) request.headers.push_back("Authorization: " + token);
  return read_json_keys(place, send(request, k_keys_deadline, Proxy::none));
}

// IMDSv2. A machine that is none of EC2's has no such service, which is no fault.
AwsCredentialSources::Found AwsCredentialSources::from_instance() {
  if (to_lower(variable("AWS_EC2_METADATA_DISABLED")) == "true") return std::nullopt;
  std::string service = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (service.empty()) service = "http://169.254.169.254";
  while (service.ends_with('/'))
    service.pop_back();
  const double end = steady_seconds() + k_instance_seconds;
  const auto ask = [&](HttpVerb verb, const std::string& path, const std::string& header) {
    const auto rest = milliseconds(static_cast<int64_t>((end - steady_seconds()) * 1000));
    if (rest.count() <= 0) return HttpResponse{.why = "no answer in time"};
    return send({.verb = verb, .url = service + path, .headers = {header}, .follows_redirects = false}, rest,
                Proxy::none);
  };
  const auto token = ask(HttpVerb::put, "/latest/api/token", "X-aws-ec2-metadata-token-ttl-seconds: 21600");
  const std::string word = trim(token.body);
  if (token.status != 200 || word.empty() || word.find_first_of("\r\n") != std::string::npos)
    return std::nullopt;
  const std::string header = "X-aws-ec2-metadata-token: " + word;
  const std::string folder = "/latest/meta-data/iam/security-credentials/";
  const auto role = ask(HttpVerb::get, folder, header);
  const std::string name = role.status == 200 ? trim(role.body) : "";
  if (name.empty() || name.find_first_of("\r\n") != std::string::npos)
    return std::nullopt;  // no role is attached
  return read_json_keys("metadata service of EC2",
                        ask(HttpVerb::get, folder + uri_encode(name, false), header));
}

}  // namespace dsbuild
