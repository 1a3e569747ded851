// One request and its response, with all its tries. Private to this stage.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <string>
#include <string_view>

#include "remote/curl.h"
#include "remote/http_client.h"
#include "remote/http_url.h"

namespace dsbuild {

// The values that all transfers of a client share.
class HttpSetup {
 public:
  HttpSetup(const Curl& curl, HttpOptions options, HttpUrl base, const FileReader& files);

  const Curl& curl() const { return curl_; }
  const HttpOptions& options() const { return options_; }
  const HttpUrl& base() const { return base_; }
  const std::string& user_agent() const { return user_agent_; }
  // "": libcurl's default.
  const std::string& ca_file() const { return ca_file_; }
  // Whether an HTTP/2 connection without TLS may carry more than one request. In libcurl 7.88 the second
  // request fails (github.com/curl/curl/pull/10643); Debian 12 has that version.
  bool reuses_h2c() const { return reuses_h2c_; }

 private:
  const Curl& curl_;
  HttpOptions options_;
  HttpUrl base_;
  std::string user_agent_, ca_file_;
  bool reuses_h2c_;
};

using SteadyTime = std::chrono::steady_clock::time_point;

// The requests of one call of send(), whose caller waits for the last response. Each call has its own
// condition variable: a common one would wake hundreds of threads for each response.
struct HttpBatch {
  size_t left = 0;  // requests without a response
  std::condition_variable ended = {};
};

class HttpTransfer {
 public:
  // The arguments must outlive this. `credentials`: headers for the server that the user named.
  HttpTransfer(const HttpSetup& setup, const HttpRequest& request,
               const std::vector<std::string>& credentials);
  HttpTransfer(const HttpTransfer&) = delete;
  HttpTransfer& operator=(const HttpTransfer&) = delete;
  ~HttpTransfer();

  // A handle for the next try. nullptr: the request has failed, and the response says why.
  CURL* begin_try(SteadyTime now);
  // Call it after the try; the caller frees the handle later.
  enum class Next { ended, again };
  Next end_try(CURL* handle, CURLcode code, SteadyTime now);
  // When the next try is due.
  SteadyTime due() const { return due_; }
  // Whether the last try got no answer from the server at all.
  bool is_unanswered() const { return is_unanswered_; }
  SteadyTime started() const { return started_; }
  bool is_stopped() const { return request_.stop.stop_requested(); }
  // When the request fails unless a byte of the body has arrived; nullopt: never.
  std::optional<SteadyTime> first_byte_due() const;
  void fail_for_silence() { fail(k_no_answer); }
  bool speaks_http2() const { return speaks_http2_; }

  void fail(std::string why) { response = {.why = std::move(why)}; }

  HttpResponse response;
  HttpBatch* batch = nullptr;

 private:
  static constexpr const char* k_no_answer = "no answer in time";
  static size_t take(char* bytes, size_t size, size_t count, void* transfer);
  static size_t give(char* bytes, size_t size, size_t count, void* transfer);
  static size_t take_header(char* bytes, size_t size, size_t count, void* transfer);
  static int rewind(void* transfer, curl_off_t offset, int origin);

  void set_up(CURL* handle);
  void set_up_headers(CURL* handle);
  void set_up_trust(CURL* handle);
  void set_up_body(CURL* handle);
  Next judge(CURL* handle, long status, SteadyTime now);
  Next follow(CURL* handle);
  Next wait(std::chrono::milliseconds told, SteadyTime now);
  Next judge_failure(CURLcode code);
  Next end_with(const std::string& why);
  Next end_too_large(const std::string& verb);
  bool has_body() const;

  const HttpSetup& setup_;
  const HttpRequest& request_;
  const std::vector<std::string>& credentials_;
  std::string url_;
  curl_slist* headers_ = nullptr;  // of the current try
  size_t sent_ = 0;
  size_t received_ = 0;
  CURL* handle_ = nullptr;
  std::array<char, CURL_ERROR_SIZE> words_{};  // libcurl's message of a failure
  SteadyTime started_{}, deadline_{}, due_{};
  int waits_ = 0, redirects_ = 0;
  bool is_own_ = true;    // goes to the server that the user named; no other gets its secrets
  bool is_first_ = true;  // goes to the request's first server; no other gets the request's headers
  bool was_dropped_ = false, is_too_large_ = false, is_out_of_memory_ = false;
  bool is_unanswered_ = false, speaks_http2_ = false;
};

}  // namespace dsbuild
