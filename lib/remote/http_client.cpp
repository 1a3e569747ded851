#include "remote/http_client.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <list>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "remote/credential_helper.h"
#include "remote/http_transfer.h"
#include "sys/quiet_thread.h"

namespace dsbuild {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t k_most_connections = 16;
// Requests on their way at once, where one connection carries many (HTTP/2).
constexpr size_t k_most_streams = 64;
constexpr milliseconds k_longest_poll{60'000};
constexpr const char* k_cancelled = "the call was cancelled";

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

// One thread moves all bytes: it alone works with libcurl's handles. Others leave transfers in a queue, wake
// it, and wait until it has ended the last of theirs.
class CurlClient : public HttpClient {
 public:
  CurlClient(const Curl& curl, HttpOptions options, HttpUrl base, const FileReader& files)
      : curl_(curl),
        setup_(curl, std::move(options), std::move(base), files),
        multi_(curl.multi_init()),
        most_(std::max(setup_.options().most_at_once, k_most_connections)) {}
  ~CurlClient() override {
    cancel();
    if (thread_.joinable()) thread_.join();
    curl_.multi_cleanup(multi_);
  }
  CurlClient(const CurlClient&) = delete;
  CurlClient& operator=(const CurlClient&) = delete;

  bool start();
  std::vector<HttpResponse> send(const std::vector<HttpRequest>& requests) override;
  void cancel() override;
  std::string base() const override { return setup_.base().text; }
  std::string origin() const override { return setup_.base().origin(); }

 private:
  using Transfers = std::deque<HttpTransfer>;
  std::vector<HttpResponse> run(Transfers& transfers);

  // The thread's.
  void work();
  bool admit();
  void begin(HttpTransfer& transfer);
  void begin_due();
  void end_given_up();
  bool end_tries();
  void end_try(const CURLMsg& message);
  void fail_waiting(const std::string& why);
  void fail_all();
  void finish(HttpTransfer& transfer);
  int patience() const;
  void rest() const;

  const Curl& curl_;
  const HttpSetup setup_;
  CURLM* const multi_;

  std::mutex mutex_;  // of what follows
  std::deque<HttpTransfer*> waiting_;
  bool is_cancelled_ = false;

  // The thread's.
  size_t most_;
  std::vector<std::pair<CURL*, HttpTransfer*>> sent_;
  std::vector<HttpTransfer*> delayed_;  // until their next try is due
  SteadyTime last_answer_{};
  std::thread thread_;  // last, for it uses the others
};

bool CurlClient::start() {
  if (multi_ == nullptr) return false;
  // Where each request has a connection of its own, as many are needed.
  const bool is_alone = setup_.options().is_http2 && !setup_.reuses_h2c();
  const auto connections = static_cast<long>(is_alone ? most_ : k_most_connections);
  curl_.multi_setopt(multi_, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_MULTIPLEX));
  curl_.multi_setopt(multi_, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections);
  curl_.multi_setopt(multi_, CURLMOPT_MAXCONNECTS, connections);
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

// Without what the helper should have given nothing is asked for.
std::vector<HttpResponse> CurlClient::send(const std::vector<HttpRequest>& requests) {
  const auto& helper = setup_.options().helper;
  const auto credentials = helper && !requests.empty() ? helper->headers(base()) : std::vector<std::string>{};
  if (!credentials)
    return std::vector<HttpResponse>(
        requests.size(),
        {.why = credentials.error().where + ": " + credentials.error().what, .has_no_credentials = true});
  const auto wake = [this] { curl_.multi_wakeup(multi_); };
  std::list<std::stop_callback<decltype(wake)>> callbacks;
  Transfers transfers;
  for (const HttpRequest& request : requests) {
    transfers.emplace_back(setup_, request, *credentials);
    callbacks.emplace_back(request.stop, wake);
  }
  return run(transfers);
}

std::vector<HttpResponse> CurlClient::run(Transfers& transfers) {
  HttpBatch batch{transfers.size()};
  {
    std::unique_lock lock(mutex_);
    for (HttpTransfer& transfer : transfers) {
      transfer.batch = &batch;
      if (is_cancelled_) transfer.fail(k_cancelled);
    }
    if (!is_cancelled_) {
      for (HttpTransfer& transfer : transfers)
        waiting_.push_back(&transfer);
      curl_.multi_wakeup(multi_);
      batch.ended.wait(lock, [&] { return batch.left == 0; });
    }
  }
  std::vector<HttpResponse> responses;
  responses.reserve(transfers.size());
  for (HttpTransfer& transfer : transfers)
    responses.push_back(std::move(transfer.response));
  return responses;
}

void CurlClient::cancel() {
  const std::lock_guard lock(mutex_);
  is_cancelled_ = true;
  if (multi_ != nullptr) curl_.multi_wakeup(multi_);
}

void CurlClient::work() {
  block_signals_in_this_thread();
  while (admit()) {
    end_given_up();
    begin_due();
    int running = 0;
    curl_.multi_perform(multi_, &running);
    // What ended made room for what waits.
    if (!end_tries()) curl_.multi_poll(multi_, nullptr, 0, patience(), nullptr);
    rest();
  }
  fail_all();
}

// libcurl looks at all requests whenever one has an answer, by system calls for each; and that of Debian 12
// never waits while a server's window for an upload is full. Without a rest the thread would do little else.
void CurlClient::rest() const {
  constexpr std::chrono::microseconds k_for_each{10};
  std::this_thread::sleep_for(sent_.size() * k_for_each);
}

// Begins as many of those that wait as there is room for; false once all is cancelled. libcurl would queue
// files for 16 connections too, but the time for connecting would run meanwhile.
bool CurlClient::admit() {
  while (true) {
    HttpTransfer* next = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (is_cancelled_) return false;
      if (waiting_.empty() || sent_.size() + delayed_.size() >= most_) return true;
      next = waiting_.front();
      waiting_.pop_front();
    }
    begin(*next);
  }
}

void CurlClient::begin(HttpTransfer& transfer) {
  if (transfer.is_stopped()) {
    transfer.fail(k_cancelled);
    return finish(transfer);
  }
  CURL* const handle = transfer.begin_try(steady_clock::now());
  if (handle == nullptr) return finish(transfer);
  sent_.emplace_back(handle, &transfer);
  if (curl_.multi_add_handle(multi_, handle) == CURLM_OK) return;
  sent_.pop_back();
  curl_.easy_cleanup(handle);
  transfer.fail("libcurl takes no more files");
  finish(transfer);
}

void CurlClient::begin_due() {
  const SteadyTime now = steady_clock::now();
  const auto waits = [&](const HttpTransfer* transfer) { return transfer->due() > now; };
  // Not std::ranges::partition, whose result clang 14 cannot take from gcc 12's library.
  const auto due = std::partition(delayed_.begin(), delayed_.end(), waits);
  const std::vector<HttpTransfer*> ready(due, delayed_.end());
  delayed_.erase(due, delayed_.end());
  for (HttpTransfer* transfer : ready)
    begin(*transfer);
}

// Those that their callers have stopped, and those that nobody answers. What waits is ended when its turn
// comes.
void CurlClient::end_given_up() {
  const SteadyTime now = steady_clock::now();
  const auto is_given_up = [now](const HttpTransfer& transfer) {
    return transfer.is_stopped() || transfer.first_byte_due().value_or(SteadyTime::max()) <= now;
  };
  std::vector<HttpTransfer*> ended;
  std::erase_if(sent_, [&](const auto& sent) {
    if (!is_given_up(*sent.second)) return false;
    curl_.multi_remove_handle(multi_, sent.first);
    curl_.easy_cleanup(sent.first);
    ended.push_back(sent.second);
    return true;
  });
  std::erase_if(delayed_, [&](HttpTransfer* transfer) {
    if (!is_given_up(*transfer)) return false;
    ended.push_back(transfer);
    return true;
  });
  for (HttpTransfer* transfer : ended) {
    if (transfer->is_stopped())
      transfer->fail(k_cancelled);
    else
      transfer->fail_for_silence();
    finish(*transfer);
  }
}

// Whether there were any.
bool CurlClient::end_tries() {
  bool ended = false;
  int left = 0;
  while (const CURLMsg* message = curl_.multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    end_try(*message);
    ended = true;
  }
  return ended;
}

void CurlClient::end_try(const CURLMsg& message) {
  CURL* const handle = message.easy_handle;
  const CURLcode code = message.data.result;  // the message goes with the handle
  const auto found = std::ranges::find(sent_, handle, &std::pair<CURL*, HttpTransfer*>::first);
  HttpTransfer& transfer = *found->second;
  sent_.erase(found);
  const SteadyTime now = steady_clock::now();
  const auto next = transfer.end_try(handle, code, now);
  curl_.multi_remove_handle(multi_, handle);
  curl_.easy_cleanup(handle);
  if (transfer.is_unanswered()) {
    // A server that responses nobody would else cost its deadline for each 16 of a thousand files.
    if (next == HttpTransfer::Next::ended && last_answer_ < transfer.started())
      fail_waiting(transfer.response.why);
  } else {
    last_answer_ = now;
    const size_t usual = transfer.speaks_http2() ? k_most_streams : k_most_connections;
    most_ = std::max(setup_.options().most_at_once, usual);
  }
  if (next == HttpTransfer::Next::ended) return finish(transfer);
  delayed_.push_back(&transfer);
}

void CurlClient::fail_waiting(const std::string& why) {
  std::deque<HttpTransfer*> waiting;
  {
    const std::lock_guard lock(mutex_);
    waiting.swap(waiting_);
  }
  for (HttpTransfer* transfer : waiting) {
    transfer->fail(why);
    finish(*transfer);
  }
}

// A handle knows its transfer, so it goes first.
void CurlClient::fail_all() {
  fail_waiting(k_cancelled);
  for (const auto& [handle, transfer] : sent_) {
    curl_.multi_remove_handle(multi_, handle);
    curl_.easy_cleanup(handle);
    delayed_.push_back(transfer);
  }
  for (HttpTransfer* transfer : delayed_) {
    transfer->fail(k_cancelled);
    finish(*transfer);
  }
}

// The caller may free the transfer as soon as the last of its batch is counted.
void CurlClient::finish(HttpTransfer& transfer) {
  const std::lock_guard lock(mutex_);
  if (--transfer.batch->left == 0) transfer.batch->ended.notify_all();
}

int CurlClient::patience() const {
  milliseconds wait = k_longest_poll;
  const SteadyTime now = steady_clock::now();
  const auto until = [&](SteadyTime due) {
    wait = std::min(wait, std::chrono::ceil<milliseconds>(due - now));
  };
  for (const HttpTransfer* transfer : delayed_)
    until(transfer->due());
  for (const auto& [handle, transfer] : sent_)
    if (const auto due = transfer->first_byte_due()) until(*due);
  return static_cast<int>(std::max(wait, milliseconds(0)).count());
}

constexpr const char* k_give_a_url = "Give a URL such as https://cache.example.com:8080/dsbuild.";

Result<void> check_authorization(const HttpOptions& options) {
  if (is_header_value(options.authorization)) return {};
  return fail(Exit::usage, "bad_remote_url", "authorization of the remote cache",
              "holds a character that an HTTP header cannot carry", "Give one line of printable ASCII.");
}

Result<void> check_http2(const Curl& curl) {
  const auto* const info = curl.version_info(CURLVERSION_NOW);
  if ((info->features & CURL_VERSION_HTTP2) != 0) return {};
  return fail(Exit::unmet, "no_libcurl", std::string("libcurl ") + info->version,
              "is built without HTTP/2, which this shared cache needs",
              "Install the libcurl of your distribution, or use a shared cache by https://.");
}

// The text is not shown: it may hold a password.
Result<HttpUrl> parse_base(const Curl& curl, const std::string& text) {
  auto base = parse_http_url(curl, text);
  if (!base)
    return fail(Exit::usage, "bad_remote_url", "URL of the remote cache", "is not an address of HTTP",
                k_give_a_url);
  if (!base->is_plain)
    return fail(Exit::usage, "bad_remote_url", base->origin(), "a cache's URL has no query and no fragment",
                k_give_a_url);
  while (base->text.ends_with('/'))
    base->text.pop_back();
  return std::move(*base);
}

}  // namespace

std::string HttpResponse::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

const char* http_verb_name(HttpVerb verb) {
  constexpr std::array k_verbs = {"GET", "PUT", "HEAD", "POST", "DELETE"};
  return k_verbs.at(static_cast<size_t>(verb));
}

bool is_header_value(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c != '\x7f'; });
}

std::string describe_status(HttpVerb verb, long status) {
  return std::string(http_verb_name(verb)) + " is answered with status " + std::to_string(status) +
         meaning_of(status);
}

Result<std::unique_ptr<HttpClient>> open_http_client(HttpOptions options, const FileReader& files) {
  DSBUILD_TRY(curl, load_curl());
  DSBUILD_CHECK(check_authorization(options));
  if (options.is_http2) DSBUILD_CHECK(check_http2(*curl));
  DSBUILD_TRY(base, parse_base(*curl, options.url));
  auto client = std::make_unique<CurlClient>(*curl, std::move(options), std::move(base), files);
  if (!client->start())
    return fail(Exit::failed, "io", "remote cache", "no thread can be started for its connections");
  return client;
}

}  // namespace dsbuild
