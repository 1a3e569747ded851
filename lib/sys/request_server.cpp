#include "sys/request_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <list>
#include <thread>

#include "sys/local_socket.h"

namespace dsbuild {
namespace {

using Answer = std::function<std::string(const std::string&)>;

class RealRequestServer : public RequestServer {
 public:
  RealRequestServer(LocalListener listener, Descriptor wake, Answer answer)
      : listener_(std::move(listener)),
        wake_(std::move(wake)),
        answer_(std::move(answer)),
        thread_([this] { serve(); }) {}
  RealRequestServer(const RealRequestServer&) = delete;
  RealRequestServer& operator=(const RealRequestServer&) = delete;
  ~RealRequestServer() override {
    ::eventfd_write(wake_.number(), 1);
    thread_.join();
    for (Connection& connection : connections_)
      ::shutdown(connection.socket.number(), SHUT_RDWR);
    for (Connection& connection : connections_)
      connection.thread.join();
  }

  std::string name() const override { return listener_.name; }

 private:
  struct Connection {
    Descriptor socket;
    std::thread thread;
    std::atomic<bool> has_ended = false;
  };

  void serve() {
    while (true) {
      std::array<pollfd, 2> waits = {{{wake_.number(), POLLIN, 0}, {listener_.socket.number(), POLLIN, 0}}};
      if (::poll(waits.data(), waits.size(), -1) < 0) continue;
      if (waits[0].revents != 0) return;
      forget_ended();
      if (Descriptor socket = accept_local(listener_.socket); socket.is_open()) begin(std::move(socket));
    }
  }

  void begin(Descriptor socket) {
    Connection& connection = connections_.emplace_back();
    connection.socket = std::move(socket);
    connection.thread = std::thread([this, &connection] {
      for (std::string question = receive_message(connection.socket); !question.empty();
           question = receive_message(connection.socket))
        send_message(connection.socket, answer_(question));
      connection.has_ended = true;
    });
  }

  void forget_ended() {
    for (auto at = connections_.begin(); at != connections_.end();) {
      if (!at->has_ended) {
        ++at;
        continue;
      }
      at->thread.join();
      at = connections_.erase(at);
    }
  }

  LocalListener listener_;
  Descriptor wake_;
  Answer answer_;
  std::list<Connection> connections_;  // the thread's, until it has ended
  std::thread thread_;                 // last, for it uses the others
};

}  // namespace

Result<std::unique_ptr<RequestServer>> open_request_server(Answer answer) {
  constexpr const char* k_what = "making the socket for what the build's steps ask";
  DSBUILD_TRY(listener, listen_locally(k_what));
  Descriptor wake(::eventfd(0, EFD_CLOEXEC));
  if (!wake.is_open()) return io_error("eventfd", k_what, errno);
  return std::make_unique<RealRequestServer>(std::move(listener), std::move(wake), std::move(answer));
}

RequestClient::RequestClient(const Environment& environment, const char* variable) {
  if (const auto name = environment.find(variable); name != environment.end()) name_ = name->second;
}

RequestClient::~RequestClient() = default;

std::optional<std::string> RequestClient::ask(const std::string& question) {
  if (name_.empty()) return std::nullopt;
  if (!socket_) socket_ = std::make_unique<Descriptor>(connect_locally(name_));
  std::string answer;
  if (socket_->is_open()) {
    send_message(*socket_, question);
    answer = receive_message(*socket_);
  }
  if (!answer.empty()) return answer;
  name_.clear();  // the build has ended
  return std::nullopt;
}

}  // namespace dsbuild
