#include "remote/http_transfer.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <random>
#include <utility>

#include "base/text.h"

namespace dsbuild {
namespace {

using std::chrono::milliseconds;

constexpr int k_most_waits = 2;  // between three tries
constexpr int k_most_redirects = 5;
constexpr long k_buffer_bytes = 128 << 10;
constexpr size_t k_most_error_bytes = size_t{64} << 10;
// CURLOPT_QUICK_EXIT, which headers before 7.87 lack: a handle that ends waits for no answer of the DNS.
constexpr auto k_quick_exit = static_cast<CURLoption>(322);

bool is_redirect(long status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// A server may close a connection that it kept, at the moment in which it is used again. Or the answer begins
// with what the last one had too much: a new connection has nothing of it.
bool is_dropped(CURLcode code) {
  return code == CURLE_WEIRD_SERVER_REPLY || code == CURLE_UNSUPPORTED_PROTOCOL ||
         code == CURLE_GOT_NOTHING || code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR ||
         code == CURLE_PARTIAL_FILE || code == CURLE_HTTP2 || code == CURLE_HTTP2_STREAM;
}

// Up to a quarter more, so that those who were sent away together do not come back together.
milliseconds with_jitter(milliseconds wait) {
  static thread_local std::minstd_rand generator(
      static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count()));
  return wait + milliseconds(generator() % static_cast<unsigned long>(wait.count() / 4 + 1));
}

milliseconds retry_after(const Curl& curl, CURL* handle) {
  curl_off_t seconds = 0;
  curl.easy_getinfo(handle, CURLINFO_RETRY_AFTER, &seconds);
  return milliseconds(std::clamp<curl_off_t>(seconds, 0, 86'400) * 1000);
}

}  // namespace

HttpTransfer::HttpTransfer(const HttpSetup& setup, const HttpRequest& request,
                           const std::vector<std::string>& credentials)
    : setup_(setup), request_(request), credentials_(credentials), url_(request.url) {
  const auto target = parse_http_url(setup.curl(), url_);
  is_own_ = target && target->has_same_origin(setup.base());
}

HttpTransfer::~HttpTransfer() {
  setup_.curl().slist_free_all(headers_);
}

bool HttpTransfer::has_body() const {
  return request_.verb == HttpVerb::put || request_.verb == HttpVerb::post;
}

CURL* HttpTransfer::begin_try(SteadyTime now) {
  if (started_ == SteadyTime{}) {
    started_ = now;
    deadline_ = now + request_.deadline.value_or(setup_.options().deadline);
  }
  if (request_.body.size() > k_most_body_bytes) {
    end_too_large("sent");
    return nullptr;
  }
  handle_ = now < deadline_ ? setup_.curl().easy_init() : nullptr;
  if (handle_ == nullptr) {
    fail(now < deadline_ ? "libcurl has no memory" : k_no_answer);
    return nullptr;
  }
  sent_ = received_ = 0;
  response = {};
  words_[0] = '\0';
  set_up(handle_);
  set_up_trust(handle_);
  set_up_body(handle_);
  const auto rest = std::chrono::ceil<milliseconds>(deadline_ - now);
  setup_.curl().easy_setopt(handle_, CURLOPT_TIMEOUT_MS, static_cast<long>(rest.count()));
  return handle_;
}

void HttpTransfer::set_up(CURL* handle) {
  const auto set = setup_.curl().easy_setopt;
  const bool is_secure = url_.starts_with("https:");
  set(handle, CURLOPT_URL, url_.c_str());
  set(handle, CURLOPT_PRIVATE, this);
  set(handle, CURLOPT_ERRORBUFFER, words_.data());
  set(handle, CURLOPT_NOSIGNAL, 1L);
  set(handle, k_quick_exit, 1L);
  set(handle, CURLOPT_USERAGENT, setup_.user_agent().c_str());
  const bool is_h2c = setup_.options().is_http2 && !is_secure;
  // Where the library has no HTTP/2, it stays at 1.1.
  const auto plain = is_h2c ? CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE : CURL_HTTP_VERSION_1_1;
  set(handle, CURLOPT_HTTP_VERSION, static_cast<long>(is_secure ? CURL_HTTP_VERSION_2TLS : plain));
  // A proxy that reads requests of HTTP/1.1 does not understand them.
  if (is_h2c) set(handle, CURLOPT_HTTPPROXYTUNNEL, 1L);
  const bool reuses = !is_h2c || setup_.reuses_h2c();
  set(handle, CURLOPT_FRESH_CONNECT, reuses ? 0L : 1L);
  set(handle, CURLOPT_FORBID_REUSE, reuses ? 0L : 1L);
  // The first answer tells whether a connection carries many requests at once.
  set(handle, CURLOPT_PIPEWAIT, is_secure || (is_h2c && reuses) ? 1L : 0L);
  set_up_headers(handle);
  set(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(setup_.options().connect_timeout.count()));
  set(handle, CURLOPT_BUFFERSIZE, k_buffer_bytes);
  if (!setup_.ca_file().empty()) set(handle, CURLOPT_CAINFO, setup_.ca_file().c_str());
  if (!setup_.options().uses_proxy) set(handle, CURLOPT_NOPROXY, "*");
}

// No "Expect: 100-continue": a round trip more for each file.
void HttpTransfer::set_up_headers(CURL* handle) {
  const Curl& curl = setup_.curl();
  curl.slist_free_all(std::exchange(headers_, nullptr));
  const auto add = [&](const std::string& header) {
    curl_slist* const longer = curl.slist_append(headers_, header.c_str());
    if (longer != nullptr) headers_ = longer;
  };
  add("Expect:");
  const std::string& secret = setup_.options().authorization;
  if (is_own_ && !secret.empty()) add("Authorization: " + secret);
  if (is_own_) std::ranges::for_each(credentials_, add);
  const std::vector<std::string> none;
  const auto& own = is_first_ ? request_.headers : none;
  const bool has_type = std::ranges::any_of(
      own, [](const auto& header) { return to_lower(header).starts_with("content-type:"); });
  if (!has_type) add("Content-Type: application/octet-stream");
  std::ranges::for_each(own, add);
  curl.easy_setopt(handle, CURLOPT_HTTPHEADER, headers_);
}

// libcurl follows no redirect by itself: which secrets it sends on differs between its versions.
void HttpTransfer::set_up_trust(CURL* handle) {
  const auto set = setup_.curl().easy_setopt;
  const HttpOptions& options = setup_.options();
  const HttpUrl& base = setup_.base();
  set(handle, CURLOPT_FOLLOWLOCATION, 0L);
  if (options.uses_netrc && options.authorization.empty() && !options.helper && base.user.empty())
    set(handle, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
  if (!is_own_) return;
  if (!base.user.empty() && options.authorization.empty()) {
    set(handle, CURLOPT_USERNAME, base.user.c_str());
    set(handle, CURLOPT_PASSWORD, base.password.c_str());
  }
  if (!options.client_cert.empty()) set(handle, CURLOPT_SSLCERT, options.client_cert.c_str());
  if (!options.client_key.empty()) set(handle, CURLOPT_SSLKEY, options.client_key.c_str());
}

void HttpTransfer::set_up_body(CURL* handle) {
  const auto set = setup_.curl().easy_setopt;
  set(handle, CURLOPT_WRITEFUNCTION, &HttpTransfer::take);
  set(handle, CURLOPT_WRITEDATA, this);
  set(handle, CURLOPT_HEADERFUNCTION, &HttpTransfer::take_header);
  set(handle, CURLOPT_HEADERDATA, this);
  set(handle, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(k_most_body_bytes));
  if (request_.verb == HttpVerb::head) set(handle, CURLOPT_NOBODY, 1L);
  if (request_.verb == HttpVerb::remove) set(handle, CURLOPT_CUSTOMREQUEST, "DELETE");
  if (!has_body()) return;
  set(handle, CURLOPT_UPLOAD, 1L);
  if (request_.verb == HttpVerb::post) set(handle, CURLOPT_CUSTOMREQUEST, "POST");
  set(handle, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
  set(handle, CURLOPT_READFUNCTION, &HttpTransfer::give);
  set(handle, CURLOPT_READDATA, this);
  set(handle, CURLOPT_SEEKFUNCTION, &HttpTransfer::rewind);
  set(handle, CURLOPT_SEEKDATA, this);
}

// Called by libcurl, through which no exception may go.
size_t HttpTransfer::take(char* bytes, size_t size, size_t count, void* transfer) {
  auto& self = *static_cast<HttpTransfer*>(transfer);
  const size_t length = size * count;
  self.received_ += length;
  self.is_too_large_ = self.received_ > k_most_body_bytes;
  if (self.is_too_large_) return 0;
  long status = 0;
  self.setup_.curl().easy_getinfo(self.handle_, CURLINFO_RESPONSE_CODE, &status);
  std::string& body = self.response.body;
  const size_t kept = status < 300 ? length : std::min(length, k_most_error_bytes - body.size());
  try {
    body.append(bytes, kept);
    if (status < 300 && self.request_.on_body) self.request_.on_body({bytes, length});
  } catch (const std::exception&) {
    self.is_out_of_memory_ = true;
    return 0;
  }
  return length;
}

// A line: "HTTP/1.1 200 OK" begins an answer, and the last one counts.
size_t HttpTransfer::take_header(char* bytes, size_t size, size_t count, void* transfer) {
  auto& self = *static_cast<HttpTransfer*>(transfer);
  const std::string_view line(bytes, size * count);
  const size_t colon = line.find(':');
  try {
    if (line.starts_with("HTTP/"))
      self.response.headers.clear();
    else if (colon != std::string_view::npos)
      self.response.headers[to_lower(std::string(line.substr(0, colon)))] =
          trim(std::string(line.substr(colon + 1)));
  } catch (const std::exception&) {
    self.is_out_of_memory_ = true;
    return 0;
  }
  return line.size();
}

size_t HttpTransfer::give(char* bytes, size_t size, size_t count, void* transfer) {
  auto& self = *static_cast<HttpTransfer*>(transfer);
  const size_t given = self.request_.body.copy(bytes, size * count, self.sent_);
  self.sent_ += given;
  return given;
}

// libcurl sends again by itself what went into a connection that was already closed.
int HttpTransfer::rewind(void* transfer, curl_off_t offset, int origin) {
  auto& self = *static_cast<HttpTransfer*>(transfer);
  if (origin != SEEK_SET || offset < 0 || static_cast<size_t>(offset) > self.request_.body.size())
    return CURL_SEEKFUNC_FAIL;
  self.sent_ = static_cast<size_t>(offset);
  return CURL_SEEKFUNC_OK;
}

HttpTransfer::Next HttpTransfer::end_try(CURL* handle, CURLcode code, SteadyTime now) {
  long status = 0, version = 0;
  setup_.curl().easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  setup_.curl().easy_getinfo(handle, CURLINFO_HTTP_VERSION, &version);
  handle_ = nullptr;
  // The status of gRPC comes last. libcurl 7.88 may lose all before it where a server answers early.
  const bool has_grpc_status = response.headers.contains("grpc-status");
  is_unanswered_ = status == 0 && !has_grpc_status;
  const bool reuses = url_.starts_with("https:") || setup_.reuses_h2c();
  speaks_http2_ = version >= CURL_HTTP_VERSION_2_0 && reuses;
  due_ = now;
  if (is_too_large_ || code == CURLE_FILESIZE_EXCEEDED) return end_too_large("taken");
  if (is_out_of_memory_) return end_with("there is no memory for the answer");
  // A server that refuses a body may close the connection before it has read all of it.
  if (status >= 300 || has_grpc_status || (code == CURLE_OK && status != 0))
    return judge(handle, status, now);
  return judge_failure(code == CURLE_OK ? CURLE_GOT_NOTHING : code);
}

HttpTransfer::Next HttpTransfer::judge(CURL* handle, long status, SteadyTime now) {
  response.status = status;
  if (is_redirect(status) && request_.follows_redirects && !has_body()) return follow(handle);
  if (status == 429 || status == 503) return wait(retry_after(setup_.curl(), handle), now);
  const auto told = request_.wait_asked_for ? request_.wait_asked_for(response) : std::nullopt;
  return told ? wait(*told, now) : Next::ended;
}

HttpTransfer::Next HttpTransfer::follow(CURL* handle) {
  char* found = nullptr;
  setup_.curl().easy_getinfo(handle, CURLINFO_REDIRECT_URL, &found);
  const auto target = parse_http_url(setup_.curl(), found != nullptr ? found : "");
  if (!target) return end_with("redirects to no address of HTTP");
  if (++redirects_ > k_most_redirects)
    return end_with("redirects more than " + plural(k_most_redirects, "time"));
  if (url_.starts_with("https:") && target->scheme == "http") return end_with("redirects from https to http");
  const auto here = parse_http_url(setup_.curl(), url_);
  const bool stays = here && target->has_same_origin(*here);
  is_own_ = is_own_ && stays;
  is_first_ = is_first_ && stays;
  url_ = target->text;
  return Next::again;
}

HttpTransfer::Next HttpTransfer::wait(milliseconds told, SteadyTime now) {
  constexpr milliseconds k_day{86'400'000};
  constexpr milliseconds k_first_wait{250};
  due_ = now + with_jitter(told > milliseconds(0) ? std::min(told, k_day) : k_first_wait * (1 << waits_));
  if (waits_ == k_most_waits || due_ >= deadline_) return Next::ended;
  ++waits_;
  return Next::again;
}

HttpTransfer::Next HttpTransfer::judge_failure(CURLcode code) {
  if (is_dropped(code) && !was_dropped_ && request_.is_repeatable) {
    was_dropped_ = true;
    return Next::again;
  }
  const char* const words = words_[0] != '\0' ? words_.data() : setup_.curl().easy_strerror(code);
  return end_with(visible(replace_all(trim(words), "\n", " ")));
}

std::optional<SteadyTime> HttpTransfer::first_byte_due() const {
  if (!request_.first_byte_deadline || received_ > 0) return std::nullopt;
  return started_ + *request_.first_byte_deadline;
}

HttpTransfer::Next HttpTransfer::end_with(const std::string& why) {
  fail(why);
  return Next::ended;
}

HttpTransfer::Next HttpTransfer::end_too_large(const std::string& verb) {
  fail("files of more than " + human_size(k_most_body_bytes) + " are not " + verb);
  response.is_too_large = true;
  return Next::ended;
}

}  // namespace dsbuild
