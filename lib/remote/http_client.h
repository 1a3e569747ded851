// Sends HTTP requests, many at once: each client has one thread and one pool of connections. All remote
// stores use it. It handles connections, proxies, TLS, redirects and deadlines, sends secrets to one server
// only, and repeats a request after a dropped connection and after 429 and 503.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "sys/file_system.h"

namespace dsbuild {

class CredentialHelper;

struct HttpOptions {
  // "https://host:port/path": the server that the user named. A user and a password in it are sent to that
  // server and never shown.
  std::string url;
  // Certificates in PEM. Without ca_file: those that libcurl was built to use, else the system's. libcurl
  // ignores SSL_CERT_FILE, so a caller that wants that variable to count passes its value here.
  Path ca_file = {};
  Path client_cert = {}, client_key = {};
  std::string authorization = {};  // the value of the header Authorization, "Bearer …": a secret
  // Gives headers for the requests to that server; nullptr: there is none.
  std::shared_ptr<CredentialHelper> helper = {};
  bool uses_netrc = true;  // if URL, `authorization` and `helper` have no credentials
  bool uses_proxy = true;  // of https_proxy, http_proxy and all_proxy
  bool is_http2 = false;   // HTTP/2 always, also without TLS (gRPC)
  // For one request with all its tries, from the start of the first.
  std::chrono::milliseconds deadline{10'000};
  std::chrono::milliseconds connect_timeout{1'000};
  // How many requests may be open at once. 0: 16, and 64 if a connection carries many (HTTP/2). To be set if
  // answers take minutes.
  size_t most_at_once = 0;
};

enum class HttpVerb { get, put, head, post, remove };

// Larger bodies are neither sent nor accepted.
inline constexpr size_t k_most_body_bytes = size_t{512} << 20;

struct HttpResponse {
  long status = 0;  // 0: there was no response, and `why` has the reason
  // Complete for a status below 300, else the first 64 KiB.
  std::string body = {};
  // Includes the trailers of HTTP/2. Names are in lower case; of two headers with one name, the last counts.
  std::map<std::string, std::string> headers = {};
  std::string why = {};  // without secrets, without the server's name
  // The body is larger than k_most_body_bytes; then status is 0.
  bool is_too_large = false;
  // Nothing was sent, because the helper gave no headers; then status is 0.
  bool has_no_credentials = false;

  bool is_success() const { return status >= 200 && status < 300; }
  // "": there is no such header.
  std::string header(const std::string& name) const;
};

struct HttpRequest {
  HttpVerb verb = HttpVerb::get;
  std::string url;                        // of the client's own server or a different one
  std::vector<std::string> headers = {};  // "Name: value"; sent to the host of `url` alone
  std::string_view body = {};             // of put and post; must outlive the call
  bool follows_redirects = true;          // of get and head
  // Whether it is sent again after its connection broke, although the server may have seen it.
  bool is_repeatable = true;
  // Instead of the client's deadline.
  std::optional<std::chrono::milliseconds> deadline = {};
  // For the arrival of the body's first byte; nullopt: `deadline` alone counts.
  std::optional<std::chrono::milliseconds> first_byte_deadline = {};
  // Returns the wait before the next try that the response asks for (0: it asks for none); nullopt: the
  // response is final. Not called for 429 and 503. Called by the client's thread.
  std::function<std::optional<std::chrono::milliseconds>(const HttpResponse&)> wait_asked_for = {};
  // Gets the body of a status below 300 as it arrives. Such a request is sent only once. Called by the
  // client's thread; must not throw.
  std::function<void(std::string_view)> on_body = {};
  // A stop ends the request as if no answer had come.
  std::stop_token stop = {};
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  // May be called from any thread. Responses have the order of the requests.
  virtual std::vector<HttpResponse> send(const std::vector<HttpRequest>& requests) = 0;
  // Ends the requests of all threads; later ones fail at once.
  virtual void cancel() = 0;
  // The client's own URL without user and password, and without '/' at its end.
  virtual std::string base() const = 0;
  // "https://host:443", for messages.
  virtual std::string origin() const = 0;
};

// Sends nothing yet. `files`: for the search for certificates. Errors: those of load_curl(); exit 3
// `no_libcurl` if `is_http2` and libcurl has no HTTP/2; exit 2 `bad_remote_url` if the URL is malformed, or
// `authorization` is no valid header value.
Result<std::unique_ptr<HttpClient>> open_http_client(HttpOptions options, const FileReader& files);

const char* http_verb_name(HttpVerb verb);  // "GET"

// Whether a header can have this value. A line break would start a further header.
bool is_header_value(std::string_view text);

// "GET is answered with status 403 (forbidden)".
std::string describe_status(HttpVerb verb, long status);

}  // namespace dsbuild
