#include "remote/s3_answer.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "remote/http_store.h"

namespace dsbuild {
namespace {

using State = RemoteAnswer::State;

struct Meaning {
  const char* code;
  const char* words;
};
// All of these are the same for every object.
constexpr std::array k_refusals = {
    Meaning{"SignatureDoesNotMatch", "the secret access key is wrong"},
    Meaning{"InvalidAccessKeyId", "nobody has this access key there"},
    Meaning{"ExpiredToken", "the session token has expired"},
    Meaning{"InvalidToken", "the session token is not valid"},
    Meaning{"TokenRefreshRequired", "the session token has expired"},
    Meaning{"RequestTimeTooSkewed", "this machine's clock is wrong"},
    Meaning{"AccessDenied", "a policy of the bucket or of the role forbids it"},
    Meaning{"NoSuchBucket", "there is no such bucket"},
    Meaning{"PermanentRedirect", "the bucket lies in a different region: name it by region="},
    Meaning{"TemporaryRedirect", "the bucket lies in a different region: name it by region="},
    Meaning{"AuthorizationHeaderMalformed", "the bucket lies in a different region: name it by region="},
    Meaning{"QuotaExceeded", "no room is left"},
};

}  // namespace

RemoteAnswer answer_of_s3(HttpVerb verb, HttpResponse response, const std::string& name) {
  const std::string code = s3_error_code(response);
  const auto* const known =
      std::ranges::find_if(k_refusals, [&](const Meaning& row) { return code == row.code; });
  if (known != k_refusals.end())
    return {State::refused,
            {},
            name + ": " + known->words + " (" + std::to_string(response.status) + " " + code + ")"};
  const bool is_redirect = response.status == 301 || response.status == 307;
  RemoteAnswer answer = answer_of_response(verb, std::move(response), name);
  if (is_redirect) answer.state = State::refused;
  if (!answer.why.empty() && !code.empty()) answer.why += ", " + visible(code);
  return answer;
}

bool may_be_absent(const HttpResponse& response) {
  const std::string code = s3_error_code(response);
  return response.status == 403 && (code.empty() || code == "AccessDenied");
}

RemoteAnswer answer_of_credentials(const AwsCredentials& credentials) {
  return {credentials.state == AwsCredentials::State::refused ? State::refused : State::failed,
          {},
          credentials.why};
}

}  // namespace dsbuild
