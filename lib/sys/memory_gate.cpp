#include "sys/memory_gate.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <mutex>
#include <thread>

#include "sys/clock.h"
#include "sys/descriptor.h"

namespace dsbuild {
namespace {

using Kind = MemoryQueue::Kind;

constexpr size_t k_longest_message = 8192;  // an output's path and a few numbers

// An abstract name, which no file stands for; the kernel chooses one where `name` is empty (unix(7)).
struct Address {
  sockaddr_un text{};
  socklen_t length = sizeof(sa_family_t);
  explicit Address(const std::string& name) {
    text.sun_family = AF_UNIX;
    if (name.empty() || name.size() + 1 > sizeof text.sun_path) return;
    name.copy(text.sun_path + 1, name.size());
    length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&text); }
};

std::string name_of(const Descriptor& socket) {
  sockaddr_un text{};
  socklen_t length = sizeof text;
  if (::getsockname(socket.number(), reinterpret_cast<sockaddr*>(&text), &length) != 0) return "";
  const size_t before = offsetof(sockaddr_un, sun_path) + 1;
  return length <= before ? "" : std::string(text.sun_path + 1, length - before);
}

// Any user can find the name.
bool is_ours(const Descriptor& socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  return ::getsockopt(socket.number(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
         peer.uid == ::geteuid();
}

// One message; "" at the end.
std::string receive(int socket) {
  std::array<char, k_longest_message> buffer;
  ssize_t count = 0;
  do {
    count = ::recv(socket, buffer.data(), buffer.size(), 0);
  } while (count < 0 && errno == EINTR);
  return count <= 0 ? "" : std::string(buffer.data(), static_cast<size_t>(count));
}

// The first word of a text, which is taken off it.
std::string take_word(std::string& text) {
  const size_t blank = std::min(text.find(' '), text.size());
  std::string word = text.substr(0, blank);
  text.erase(0, blank + 1);
  return word;
}

template <class Number>
Number take_number(std::string& text) {
  return whole_number<Number>(take_word(text)).value_or(0);
}

struct Client {
  Descriptor socket;
  GateAsk ask;  // without an output: it has asked for nothing yet
  Kind kind = Kind::look;
  ByteCount own = 0, needed = 0;
  double waits_since = 0;
  bool waits = false;
};

// Messages of a step: "look OWN TEXT TORCH OUTPUT", "work OWN TEXT TORCH OUTPUT", "end MADE_OF LOOK PEAK
// OUTPUT"; the answer to the first two is one byte.
class RealMemoryGate : public MemoryGate {
 public:
  RealMemoryGate(Descriptor listener, Descriptor wake, ByteCount bound, GateKnowledge knowledge)
      : listener_(std::move(listener)),
        wake_(std::move(wake)),
        name_(name_of(listener_)),
        queue_(bound),
        knowledge_(std::move(knowledge)),
        thread_([this] { serve(); }) {}
  RealMemoryGate(const RealMemoryGate&) = delete;
  RealMemoryGate& operator=(const RealMemoryGate&) = delete;
  ~RealMemoryGate() override { stop(); }

  std::string name() const override { return name_; }
  double waited_seconds(const std::string& output) override {
    const std::lock_guard lock(mutex_);
    const auto use = uses_.find(output);
    double seconds = use == uses_.end() ? 0 : use->second.waited_seconds;
    for (const auto& [id, client] : clients_)
      if (client.waits && client.ask.output == output) seconds += steady_seconds() - client.waits_since;
    return seconds;
  }
  std::map<std::string, GateUse> close() override {
    stop();
    return std::move(uses_);
  }

 private:
  void stop() {
    if (!thread_.joinable()) return;
    ::eventfd_write(wake_.number(), 1);
    thread_.join();
    clients_.clear();
    listener_.close();
  }

  // Once it is to end, all that steps have said is heard: who has ended may have connected just before.
  void serve() {
    bool ends = false;
    while (true) {
      std::vector<pollfd> waits = {{wake_.number(), static_cast<short>(ends ? 0 : POLLIN), 0},
                                   {listener_.number(), POLLIN, 0}};
      for (const auto& [id, client] : clients_)
        waits.push_back({id, POLLIN, 0});
      const int ready = ::poll(waits.data(), waits.size(), ends ? 0 : -1);
      if (ready < 0) continue;
      if (ends && ready == 0) return;
      const std::lock_guard lock(mutex_);
      for (size_t i = 2; i < waits.size(); ++i)
        if (waits[i].revents != 0) hear(waits[i].fd);
      if (waits[1].revents != 0) let_in();
      for (const int id : queue_.admit())
        answer(clients_.at(id));
      ends = ends || waits[0].revents != 0;
    }
  }

  void let_in() {
    Descriptor socket(::accept4(listener_.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.is_open() || !is_ours(socket)) return;
    const int id = socket.number();
    clients_[id].socket = std::move(socket);
  }

  void hear(int id) {
    std::string message = receive(id);
    const std::string word = take_word(message);
    if (word == "end") {
      note_end(std::move(message));
    } else if (word == "look" || word == "work") {
      Client& client = clients_.at(id);
      client.kind = word == "look" ? Kind::look : Kind::work;
      client.own = take_number<ByteCount>(message);
      client.ask.text.bytes = take_number<ByteCount>(message);
      client.ask.text.reads_torch = take_number<int>(message) != 0;
      client.ask.output = message;
      enter(id, client);
    } else {
      queue_.leave(id);
      clients_.erase(id);
    }
  }

  void note_end(std::string message) {
    const auto made_of = static_cast<MadeOf>(take_number<int>(message));
    const auto look = take_number<ByteCount>(message), peak = take_number<ByteCount>(message);
    GateUse& use = uses_[message];
    use.made_of = made_of;
    use.look_bytes = look;
    use.peak_bytes = peak;
    if (use.done() && knowledge_.learn) learn(message, use);
  }

  void learn(const std::string& output, const GateUse& use) {
    knowledge_.learn(output, use);
    for (auto& [id, client] : clients_) {
      if (client.ask.output.empty()) continue;
      client.needed = needed_by(client);
      queue_.expect(id, client.needed);
    }
  }

  void enter(int id, Client& client) {
    client.waits_since = steady_seconds();
    client.waits = true;
    client.needed = needed_by(client);
    queue_.enter(id, client.kind, client.own, client.needed);
  }

  ByteCount needed_by(const Client& client) const {
    const GateNeeds needs = knowledge_.needs(client.ask);
    return client.own + (client.kind == Kind::look ? needs.look_bytes : needs.peak_bytes);
  }

  void answer(Client& client) {
    GateUse& use = uses_[client.ask.output];
    const GateTurn turn{client.waits_since, steady_seconds(), client.needed};
    use.waited_seconds += turn.admitted - turn.asked;
    use.turns.push_back(turn);
    client.waits = false;
    if (queue_.used() > queue_.bound()) use.needed_alone = client.needed;
    ::send(client.socket.number(), "1", 1, MSG_NOSIGNAL);
  }

  Descriptor listener_, wake_;
  std::string name_;
  MemoryQueue queue_;
  GateKnowledge knowledge_;
  std::mutex mutex_;               // of what follows: the thread's, and what others ask about
  std::map<int, Client> clients_;  // by the socket's number
  std::map<std::string, GateUse> uses_;
  std::thread thread_;  // last, for it uses the others
};

}  // namespace

Result<std::unique_ptr<MemoryGate>> open_memory_gate(ByteCount bound, GateKnowledge knowledge) {
  constexpr int k_backlog = 1024;
  Descriptor listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  Descriptor wake(::eventfd(0, EFD_CLOEXEC));
  const Address address("");
  if (!listener.is_open() || !wake.is_open() ||
      ::bind(listener.number(), address.get(), address.length) != 0 ||
      ::listen(listener.number(), k_backlog) != 0)
    return io_error("socket", "making the gate for the build's steps", errno);
  return std::make_unique<RealMemoryGate>(std::move(listener), std::move(wake), bound, std::move(knowledge));
}

MemoryTurn::MemoryTurn(const Environment& environment, const std::string& output) : output_(output) {
  const auto name = environment.find(k_memory_gate_variable);
  if (name == environment.end() || name->second.empty()) return;
  auto socket = std::make_unique<Descriptor>(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const Address address(name->second);
  if (!socket->is_open() || ::connect(socket->number(), address.get(), address.length) != 0) return;
  socket_ = std::move(socket);
}

MemoryTurn::~MemoryTurn() = default;

void MemoryTurn::wait(Kind kind, const SeenText& text) {
  phase_ = kind;
  if (!socket_) return;
  send((kind == Kind::look ? "look " : "work ") + std::to_string(resident_memory()) + " " +
       std::to_string(text.bytes) + " " + (text.reads_torch ? "1 " : "0 ") + output_);
  (void)receive(socket_->number());  // the end too lets us go on: then the build is over, or is none of ours
}

void MemoryTurn::add_peak(ByteCount bytes) {
  ByteCount& peak = phase_ == Kind::look ? look_bytes_ : peak_bytes_;
  peak = std::max(peak, bytes);
}

void MemoryTurn::end(MadeOf made_of) {
  if (!socket_) return;
  send("end " + std::to_string(static_cast<int>(made_of)) + " " + std::to_string(look_bytes_) + " " +
       std::to_string(peak_bytes_) + " " + output_);
}

void MemoryTurn::send(const std::string& message) {
  (void)::send(socket_->number(), message.data(), std::min(message.size(), k_longest_message), MSG_NOSIGNAL);
}

ByteCount resident_memory() {
  std::ifstream statm("/proc/self/statm");
  ByteCount all = 0, resident = 0;
  statm >> all >> resident;
  return resident * static_cast<ByteCount>(::sysconf(_SC_PAGESIZE));
}

}  // namespace dsbuild
