// Signed requests for the objects of one bucket. A session remembers from the server's answers: the bucket's
// region, the difference of the clocks, and newer keys. Private to this stage.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "remote/http_client.h"
#include "remote/s3_credentials.h"
#include "remote/s3_url.h"

namespace dsbuild {

struct S3Request {
  HttpVerb verb = HttpVerb::get;
  std::string key = {};  // below the bucket; "": the bucket itself
  std::vector<std::pair<std::string, std::string>> query = {};
  std::string_view body = {};  // must outlive the call
};

class S3Session {
 public:
  // `files` must outlive this.
  S3Session(S3Place place, HttpOptions http, std::unique_ptr<HttpClient> client,
            std::unique_ptr<AwsCredentialChain> credentials, const FileReader& files);

  AwsCredentials credentials() { return credentials_->find(); }
  // Responses have the order of the requests. If a response says that the region, the clock or the session
  // token is wrong, the session corrects it and sends the request again, once for each of these.
  std::vector<HttpResponse> send(const std::vector<S3Request>& requests, const AwsCredentials& credentials);
  // Sends one request on a connection of its own, for two seconds at most, also after cancel().
  void send_at_last(const S3Request& request, const AwsCredentials& credentials);
  void cancel();

  // "s3://bucket at https://host:port", for messages.
  std::string name() const;
  const S3Place& place() const { return place_; }
  // "prefix/name".
  std::string key_of(const std::string& name) const;

 private:
  struct Known {  // learned from answers
    std::string region;
    int64_t clock_offset = 0;  // seconds that the server's clock is ahead
  };
  struct Open {  // a request that has no answer yet
    size_t index;
    bool mended_region = false, mended_clock = false, mended_keys = false;
  };
  Known known() const;
  HttpRequest signed_request(const S3Request& request, const AwsCredentials& credentials,
                             const Known& known) const;
  bool mend(Open& open, const HttpResponse& response, const Known& used, AwsCredentials& credentials);
  bool mend_region(const HttpResponse& response, const Known& used);
  bool mend_clock(const HttpResponse& response, const Known& used);
  bool mend_keys(AwsCredentials& credentials);

  const S3Place place_;
  const HttpOptions http_;
  const std::unique_ptr<HttpClient> client_;
  const std::unique_ptr<AwsCredentialChain> credentials_;
  const FileReader& files_;
  mutable std::mutex mutex_;  // guards the following
  Known known_;
};

// S3's name of the error ("NoSuchKey"); "" if the response has none, as for HEAD.
std::string s3_error_code(const HttpResponse& response);

}  // namespace dsbuild
