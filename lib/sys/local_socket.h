// Sockets between this process and the steps that it starts: messages of at most 8 KiB, under an abstract
// name, which no file stands for (unix(7)). Only for lib/sys.
#pragma once

#include <string>

#include "base/result.h"
#include "sys/descriptor.h"

namespace dsbuild {

struct LocalListener {
  Descriptor socket;
  std::string name;  // chosen by the kernel
};
// Error: exit 1 `io`; `what`: "making the gate for the build's steps".
Result<LocalListener> listen_locally(const std::string& what);
// The next connection; not open if it is from a process of a different user, who can find the name, too.
Descriptor accept_local(const Descriptor& listener);
// Not open if nobody listens.
Descriptor connect_locally(const std::string& name);

// "" at the end.
std::string receive_message(const Descriptor& socket);
void send_message(const Descriptor& socket, const std::string& message);

// Removes and returns the first word of a message.
std::string take_word(std::string& message);

}  // namespace dsbuild
