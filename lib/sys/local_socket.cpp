#include "sys/local_socket.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

namespace dsbuild {
namespace {

constexpr size_t k_longest_message = 8192;  // an output's path and a few numbers

// The kernel chooses a name where `name` is empty.
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

Descriptor new_socket() {
  return Descriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
}

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

}  // namespace

Result<LocalListener> listen_locally(const std::string& what) {
  constexpr int k_backlog = 1024;
  Descriptor socket = new_socket();
  const Address address("");
  if (!socket.is_open() || ::bind(socket.number(), address.get(), address.length) != 0 ||
      ::listen(socket.number(), k_backlog) != 0)
    return io_error("socket", what, errno);
  std::string name = name_of(socket);
  return LocalListener{std::move(socket), std::move(name)};
}

Descriptor accept_local(const Descriptor& listener) {
  Descriptor socket(::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC));
  return socket.is_open() && is_ours(socket) ? std::move(socket) : Descriptor();
}

Descriptor connect_locally(const std::string& name) {
  Descriptor socket = new_socket();
  const Address address(name);
  const bool is_connected =
      socket.is_open() && ::connect(socket.number(), address.get(), address.length) == 0;
  return is_connected ? std::move(socket) : Descriptor();
}

std::string receive_message(const Descriptor& socket) {
  std::array<char, k_longest_message> buffer;
  ssize_t count = 0;
  do {
    count = ::recv(socket.number(), buffer.data(), buffer.size(), 0);
  } while (count < 0 && errno == EINTR);
  return count <= 0 ? "" : std::string(buffer.data(), static_cast<size_t>(count));
}

void send_message(const Descriptor& socket, const std::string& message) {
  (void)::send(socket.number(), message.data(), std::min(message.size(), k_longest_message), MSG_NOSIGNAL);
}

std::string take_word(std::string& message) {
  const size_t blank = std::min(message.find(' '), message.size());
  std::string word = message.substr(0, blank);
  message.erase(0, blank + 1);
  return word;
}

}  // namespace dsbuild
