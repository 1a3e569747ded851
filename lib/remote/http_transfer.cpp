#include "remote/http_transfer.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <random>

#include "base/text.h"

namespace dsbuild {
namespace {

using std::chrono::milliseconds;

constexpr int k_most_waits = 2;  // between three tries
constexpr int k_most_redirects = 5;
constexpr long k_buffer_bytes = 128 << 10;
// CURLOPT_QUICK_EXIT, which headers before 7.87 lack: a handle that ends waits for no answer of the DNS.
constexpr auto k_quick_exit = static_cast<CURLoption>(322);

const char* verb_name(HttpVerb verb) {
  if (verb == HttpVerb::get) return "GET";
  return verb == HttpVerb::put ? "PUT" : "HEAD";
}

const char* meaning_of(long status) {
  switch (status) {
    case 401:
      return " (it asks who you are)";
    case 403:
      return " (forbidden)";
    case 405:
    case 501:
      return " (the server does not do that)";
    case 413:
      return " (the file is too large for it)";
    case 429:
      return " (too many requests)";
    case 503:
      return " (not available)";
    case 507:
      return " (no room left)";
    default:
      return "";
  }
}

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

}  // namespace

HttpTransfer::HttpTransfer(const HttpSetup& setup, HttpVerb verb, const RemoteName& name,
                           std::string_view body)
    : setup_(setup),
      verb_(verb),
      url_(setup.base().text + (name.kind == RemoteKind::ac ? "/ac/" : "/cas/") + name.digest),
      body_(body) {}

CURL* HttpTransfer::begin_try(SteadyTime now) {
  if (started_ == SteadyTime{}) {
    started_ = now;
    deadline_ = now + setup_.options().deadline;
  }
  if (body_.size() > k_most_body_bytes) {
    end(RemoteAnswer::State::refused,
        "files of more than " + human_size(k_most_body_bytes) + " are not sent");
    return nullptr;
  }
  handle_ = now < deadline_ ? setup_.curl().easy_init() : nullptr;
  if (handle_ == nullptr) {
    fail(setup_.base().origin() + (now < deadline_ ? ": libcurl has no memory" : ": no answer in time"));
    return nullptr;
  }
  sent_ = received_ = 0;
  answer.bytes.clear();
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
  set(handle, CURLOPT_HTTPHEADER, setup_.headers(is_own_));
  // Where the library has no HTTP/2, it stays at 1.1.
  set(handle, CURLOPT_HTTP_VERSION,
      static_cast<long>(is_secure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
  // The first answer tells whether a connection carries many files at once.
  set(handle, CURLOPT_PIPEWAIT, is_secure ? 1L : 0L);
  set(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(setup_.options().connect_timeout.count()));
  set(handle, CURLOPT_BUFFERSIZE, k_buffer_bytes);
  if (!setup_.ca_file().empty()) set(handle, CURLOPT_CAINFO, setup_.ca_file().c_str());
}

// libcurl follows no redirect by itself: which secrets it sends on differs between its versions.
void HttpTransfer::set_up_trust(CURL* handle) {
  const auto set = setup_.curl().easy_setopt;
  const HttpOptions& options = setup_.options();
  const HttpUrl& base = setup_.base();
  set(handle, CURLOPT_FOLLOWLOCATION, 0L);
  if (options.uses_netrc && options.authorization.empty() && base.user.empty())
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
  set(handle, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(k_most_body_bytes));
  if (verb_ == HttpVerb::head) set(handle, CURLOPT_NOBODY, 1L);
  if (verb_ != HttpVerb::put) return;
  set(handle, CURLOPT_UPLOAD, 1L);
  set(handle, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(body_.size()));
  set(handle, CURLOPT_READFUNCTION, &HttpTransfer::give);
  set(handle, CURLOPT_READDATA, this);
  set(handle, CURLOPT_SEEKFUNCTION, &HttpTransfer::rewind);
  set(handle, CURLOPT_SEEKDATA, this);
}

// Called by libcurl, through which no exception may go. Only the body of a file is kept.
size_t HttpTransfer::take(char* bytes, size_t size, size_t count, void* transfer) {
  auto& self = *static_cast<HttpTransfer*>(transfer);
  const size_t length = size * count;
  self.received_ += length;
  self.is_too_large_ = self.received_ > k_most_body_bytes;
  if (self.is_too_large_) return 0;
  long status = 0;
  self.setup_.curl().easy_getinfo(self.handle_, CURLINFO_RESPONSE_CODE, &status);
  if (status != 200 || self.verb_ != HttpVerb::get) return length;
  try {
    self.answer.bytes.append(bytes, length);
  } catch (const std::exception&) {
    self.is_out_of_memory_ = true;
    return 0;
  }
  return length;
}

size_t HttpTransfer::give(char* bytes, size_t size, size_t count, void* transfer) {
  auto& self = *static_cast<HttpTransfer*>(transfer);
  const size_t given = self.body_.copy(bytes, size * count, self.sent_);
  self.sent_ += given;
  return given;
}

// libcurl sends again by itself what went into a connection that was already closed.
int HttpTransfer::rewind(void* transfer, curl_off_t offset, int origin) {
  auto& self = *static_cast<HttpTransfer*>(transfer);
  if (origin != SEEK_SET || offset < 0 || static_cast<size_t>(offset) > self.body_.size())
    return CURL_SEEKFUNC_FAIL;
  self.sent_ = static_cast<size_t>(offset);
  return CURL_SEEKFUNC_OK;
}

HttpTransfer::Next HttpTransfer::end_try(CURL* handle, CURLcode code, SteadyTime now) {
  long status = 0, version = 0;
  setup_.curl().easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  setup_.curl().easy_getinfo(handle, CURLINFO_HTTP_VERSION, &version);
  handle_ = nullptr;
  is_unanswered_ = status == 0;
  speaks_http2_ = version >= CURL_HTTP_VERSION_2_0;
  due_ = now;
  if (is_too_large_ || code == CURLE_FILESIZE_EXCEEDED)
    return end(RemoteAnswer::State::refused,
               "files of more than " + human_size(k_most_body_bytes) + " are not taken");
  if (is_out_of_memory_) return end(RemoteAnswer::State::failed, "there is no memory for the file");
  // A server that refuses a file may close the connection before it has read all of it.
  return code == CURLE_OK || status >= 300 ? judge(handle, status, now) : judge_failure(code);
}

HttpTransfer::Next HttpTransfer::judge(CURL* handle, long status, SteadyTime now) {
  using State = RemoteAnswer::State;
  const bool is_put = verb_ == HttpVerb::put;
  if (is_redirect(status) && !is_put) return follow(handle);
  switch (status) {
    case 200:
    case 201:
    case 204:
      return end(State::done);
    case 404:
    case 410:
      return is_put ? end(State::refused, said(status)) : end(State::absent);
    case 401:
    case 403:
    case 413:
    case 507:
      return end(State::refused, said(status));
    case 405:
    case 501:
      return end(is_put ? State::refused : State::failed, said(status));
    case 429:
    case 503:
      return wait_as_told(handle, status, now);
    default:
      return end(State::failed, said(status));
  }
}

HttpTransfer::Next HttpTransfer::follow(CURL* handle) {
  char* found = nullptr;
  setup_.curl().easy_getinfo(handle, CURLINFO_REDIRECT_URL, &found);
  const auto target = parse_http_url(setup_.curl(), found != nullptr ? found : "");
  if (!target) return end(RemoteAnswer::State::failed, "redirects to no address of HTTP");
  if (++redirects_ > k_most_redirects)
    return end(RemoteAnswer::State::failed, "redirects more than " + plural(k_most_redirects, "time"));
  if (url_.starts_with("https:") && target->scheme == "http")
    return end(RemoteAnswer::State::failed, "redirects from https to http");
  is_own_ = is_own_ && target->has_same_origin(setup_.base());
  url_ = target->text;
  return Next::again;
}

HttpTransfer::Next HttpTransfer::wait_as_told(CURL* handle, long status, SteadyTime now) {
  constexpr curl_off_t k_day = 86'400;  // seconds
  constexpr milliseconds k_first_wait{250};
  curl_off_t told = 0;
  setup_.curl().easy_getinfo(handle, CURLINFO_RETRY_AFTER, &told);
  const milliseconds wait =
      told > 0 ? milliseconds(std::min(told, k_day) * 1000) : k_first_wait * (1 << waits_);
  due_ = now + with_jitter(wait);
  if (waits_ == k_most_waits || due_ >= deadline_) return end(RemoteAnswer::State::failed, said(status));
  ++waits_;
  return Next::again;
}

HttpTransfer::Next HttpTransfer::judge_failure(CURLcode code) {
  if (is_dropped(code) && !was_dropped_) {
    was_dropped_ = true;
    return Next::again;
  }
  const char* const words = words_[0] != '\0' ? words_.data() : setup_.curl().easy_strerror(code);
  return end(RemoteAnswer::State::failed, visible(replace_all(trim(words), "\n", " ")));
}

HttpTransfer::Next HttpTransfer::end(RemoteAnswer::State state, const std::string& why) {
  answer.state = state;
  if (state != RemoteAnswer::State::done) answer.bytes.clear();
  if (!why.empty()) answer.why = setup_.base().origin() + ": " + why;
  return Next::ended;
}

std::string HttpTransfer::said(long status) const {
  return std::string(verb_name(verb_)) + " is answered with status " + std::to_string(status) +
         meaning_of(status);
}

}  // namespace dsbuild
