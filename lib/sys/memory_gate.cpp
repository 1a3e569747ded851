#include "sys/memory_gate.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <mutex>
#include <thread>

#include "sys/clock.h"
#include "sys/local_socket.h"

namespace dsbuild {
namespace {

using Kind = MemoryQueue::Kind;

template <class Number>
Number take_number(std::string& text) {
  return whole_number<Number>(take_word(text)).value_or(0);
}

struct Client {
  Descriptor socket;
  GateAsk ask;  // without an output: it has asked for nothing yet
  Kind kind = Kind::look;
  ByteCount own = 0, needed = 0;
  double waits_since = 0, for_core = 0;
  bool waits = false;
};

// Messages of a step: "look OWN TEXT TORCH OUTPUT", "work OWN TEXT TORCH OUTPUT", "leave", "end MADE_OF LOOK
// PEAK OUTPUT"; the answer to the first two is one byte.
class RealMemoryGate : public MemoryGate {
 public:
  RealMemoryGate(LocalListener listener, Descriptor wake, GateBounds bounds, GateKnowledge knowledge)
      : listener_(std::move(listener.socket)),
        wake_(std::move(wake)),
        name_(std::move(listener.name)),
        queue_(bounds.memory, bounds.places),
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
  size_t idle_places() override {
    const std::lock_guard lock(mutex_);
    return queue_.idle_places();
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
      note_waits();
      for (size_t i = 2; i < waits.size(); ++i)
        if (waits[i].revents != 0) hear(waits[i].fd);
      if (waits[1].revents != 0) let_in();
      for (const int id : queue_.admit())
        answer(clients_.at(id));
      was_full_ = queue_.is_full();
      ends = ends || waits[0].revents != 0;
    }
  }

  // What those who wait have waited for since the last round.
  void note_waits() {
    const double now = steady_seconds();
    if (was_full_)
      for (auto& [id, client] : clients_)
        if (client.waits) client.for_core += now - std::max(noted_, client.waits_since);
    noted_ = now;
  }

  void let_in() {
    Descriptor socket = accept_local(listener_);
    if (!socket.is_open()) return;
    const int id = socket.number();
    clients_[id].socket = std::move(socket);
  }

  void hear(int id) {
    std::string message = receive_message(clients_.at(id).socket);
    const std::string word = take_word(message);
    if (word == "end") {
      note_end(std::move(message));
    } else if (word == "leave") {
      queue_.leave(id);
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
    const auto made_of = static_cast<ResultOrigin>(take_number<int>(message));
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
    client.for_core = 0;
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
    const GateTurn turn{client.waits_since, steady_seconds(), client.needed, client.for_core};
    use.waited_seconds += turn.admitted - turn.asked;
    use.waited_for_core += turn.for_core;
    use.turns.push_back(turn);
    client.waits = false;
    if (queue_.used() > queue_.bound()) use.needed_alone = client.needed;
    send_message(client.socket, "1");
  }

  Descriptor listener_, wake_;
  std::string name_;
  MemoryQueue queue_;
  GateKnowledge knowledge_;
  std::mutex mutex_;               // of what follows: the thread's, and what others ask about
  std::map<int, Client> clients_;  // by the socket's number
  std::map<std::string, GateUse> uses_;
  double noted_ = 0;       // when it was last noted who waits
  bool was_full_ = false;  // since then
  std::thread thread_;     // last, for it uses the others
};

}  // namespace

Result<std::unique_ptr<MemoryGate>> open_memory_gate(GateBounds bounds, GateKnowledge knowledge) {
  constexpr const char* k_what = "making the gate for the build's steps";
  DSBUILD_TRY(listener, listen_locally(k_what));
  Descriptor wake(::eventfd(0, EFD_CLOEXEC));
  if (!wake.is_open()) return io_error("eventfd", k_what, errno);
  return std::make_unique<RealMemoryGate>(std::move(listener), std::move(wake), bounds, std::move(knowledge));
}

MemoryTurn::MemoryTurn(const Environment& environment, const std::string& output) : output_(output) {
  const auto name = environment.find(k_memory_gate_variable);
  if (name == environment.end() || name->second.empty()) return;
  if (Descriptor socket = connect_locally(name->second); socket.is_open())
    socket_ = std::make_unique<Descriptor>(std::move(socket));
}

MemoryTurn::~MemoryTurn() = default;

void MemoryTurn::wait(Kind kind, const SeenText& text) {
  phase_ = kind;
  if (!socket_) return;
  send_message(*socket_, (kind == Kind::look ? "look " : "work ") + std::to_string(resident_memory()) + " " +
                             std::to_string(text.bytes) + " " + (text.reads_torch ? "1 " : "0 ") + output_);
  (void)receive_message(*socket_);  // the end too lets us go on: then the build is over, or is none of ours
}

void MemoryTurn::leave() {
  if (socket_) send_message(*socket_, "leave");
}

void MemoryTurn::add_peak(ByteCount bytes) {
  ByteCount& peak = phase_ == Kind::look ? look_bytes_ : peak_bytes_;
  peak = std::max(peak, bytes);
}

void MemoryTurn::end(ResultOrigin made_of) {
  if (!socket_) return;
  send_message(*socket_, "end " + std::to_string(static_cast<int>(made_of)) + " " +
                             std::to_string(look_bytes_) + " " + std::to_string(peak_bytes_) + " " + output_);
}

ByteCount resident_memory() {
  std::ifstream statm("/proc/self/statm");
  ByteCount all = 0, resident = 0;
  statm >> all >> resident;
  return resident * static_cast<ByteCount>(::sysconf(_SC_PAGESIZE));
}

}  // namespace dsbuild
