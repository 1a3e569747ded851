// Requests by HTTP, many at once: one thread and one pool of connections for each client. What all remote
// stores share: connections, proxies, TLS, secrets that go to one server only, redirects, tries after a
// dropped connection or after 429 and 503, and deadlines.
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
  // "https://host:port/path": the server that the user named; a user and a password in it are sent to it, and
  // never shown.
  std::string url;
  // Certificates in PEM. Without ca_file: those that libcurl was built to use, else the system's. libcurl
  // does not read SSL_CERT_FILE: who wants that variable to count gives its value here.
  Path ca_file = {};
  Path client_cert = {}, client_key = {};
  std::string authorization = {};  // the value of the header Authorization, "Bearer …": a secret
  // Gives headers for the requests to that server; nullptr: there is none.
  std::shared_ptr<CredentialHelper> helper = {};
  bool uses_netrc = true;  // where neither the URL, nor `authorization`, nor `helper` says who we are
  bool uses_proxy = true;  // that of https_proxy, http_proxy and all_proxy
  bool is_http2 = false;   // always, also without TLS (gRPC)
  // For one request, from the first time that it is sent, over all tries.
  std::chrono::milliseconds deadline{10'000};
  std::chrono::milliseconds connect_timeout{1'000};
  // Requests on their way at once; 0: 16, and 64 where a connection carries many (HTTP/2). For those whose
  // answers take minutes.
  size_t most_at_once = 0;
};

enum class HttpVerb { get, put, head, post, remove };

// Larger bodies are neither sent nor taken.
inline constexpr size_t k_most_body_bytes = size_t{512} << 20;

struct HttpResponse {
  long status = 0;  // 0: there is none, and `why` says why
  // Of a status below 300 whole, of others the first 64 KiB.
  std::string body = {};
  // With the trailers of HTTP/2; names in lower case. Of two with one name, the last.
  std::map<std::string, std::string> headers = {};
  std::string why = {};  // without secrets, without the server's name
  // The body is too large to be sent or taken; then status is 0.
  bool is_too_large = false;
  // Nothing was sent, for the helper gave no headers; then status is 0.
  bool has_no_credentials = false;

  bool is_success() const { return status >= 200 && status < 300; }
  // "" where there is no such header.
  std::string header(const std::string& name) const;
};

struct HttpRequest {
  HttpVerb verb = HttpVerb::get;
  std::string url;                        // of the client's own server, or of another
  std::vector<std::string> headers = {};  // "Name: value"; sent to the host of `url` alone
  std::string_view body = {};             // of put and post; it outlives the call
  bool follows_redirects = true;          // of get and head
  // Whether it is sent again after a connection broke in the middle. A server may have seen it then.
  bool is_repeatable = true;
  // Instead of the client's.
  std::optional<std::chrono::milliseconds> deadline = {};
  // Until the first byte of the body has come; nullopt: that has no bound of its own.
  std::optional<std::chrono::milliseconds> first_byte_deadline = {};
  // How long the server wants the client to wait before the next try (0: it does not say); nullopt: the
  // response is final. 429 and 503 are not asked about. The client's thread calls it.
  std::function<std::optional<std::chrono::milliseconds>(const HttpResponse&)> wait_asked_for = {};
  // Gets the body of a status below 300 as it comes, once: the request is sent once. The client's thread
  // calls it; it throws nothing.
  std::function<void(std::string_view)> on_body = {};
  // Once it is requested, the request ends as if no answer had come.
  std::stop_token stop = {};
};

class HttpClient {
 public:
  virtual ~HttpClient() = default;
  // From any thread. Answers have the order of the requests.
  virtual std::vector<HttpResponse> send(const std::vector<HttpRequest>& requests) = 0;
  // Ends what runs in other threads; what is asked later fails at once.
  virtual void cancel() = 0;
  // The client's own URL without user and password, and without '/' at its end.
  virtual std::string base() const = 0;
  // "https://host:443", for messages.
  virtual std::string origin() const = 0;
};

// Sends nothing yet. `files`: where certificates are looked for. Errors: those of load_curl(); exit 3, code
// `no_libcurl`, where `is_http2` and libcurl has no HTTP/2; exit 2, code `bad_remote_url`, where the URL is
// none, or a header cannot carry `authorization`.
Result<std::unique_ptr<HttpClient>> open_http_client(HttpOptions options, const FileReader& files);

const char* http_verb_name(HttpVerb verb);  // "GET"

// Whether a header can have this value: a line break would begin a header that nobody gave.
bool is_header_value(std::string_view text);

// "GET is answered with status 403 (forbidden)".
std::string describe_status(HttpVerb verb, long status);

}  // namespace dsbuild
