#include "sys/signal_catcher.h"

#include <array>
#include <atomic>
#include <csignal>
#include <mutex>

namespace dsbuild {
namespace {

constexpr std::array k_caught_signals{SIGINT, SIGTERM, SIGHUP};

// Handlers are the process's: the first of several catchers sets them, the last sets back what was there.
std::atomic<int> g_caught_signal = 0, g_caught_signals = 0;
static_assert(std::atomic<int>::is_always_lock_free);

void remember_signal(int signal) {
  g_caught_signal = signal;
  ++g_caught_signals;
}

struct Handlers {
  std::mutex mutex;
  int users = 0;
  std::array<struct sigaction, k_caught_signals.size()> before{};
};

Handlers& handlers() {
  static Handlers all;
  return all;
}

}  // namespace

SignalCatcher::SignalCatcher() : taken_(g_caught_signals) {
  Handlers& all = handlers();
  const std::lock_guard lock(all.mutex);
  if (all.users++ > 0) return;
  struct sigaction remember{};
  remember.sa_handler = remember_signal;
  for (size_t i = 0; i < k_caught_signals.size(); ++i) {
    ::sigaction(k_caught_signals[i], nullptr, &all.before[i]);
    if (all.before[i].sa_handler != SIG_IGN) ::sigaction(k_caught_signals[i], &remember, nullptr);
  }
}

SignalCatcher::~SignalCatcher() {
  Handlers& all = handlers();
  const std::lock_guard lock(all.mutex);
  if (--all.users > 0) return;
  for (size_t i = 0; i < k_caught_signals.size(); ++i)
    ::sigaction(k_caught_signals[i], &all.before[i], nullptr);
}

int SignalCatcher::take() {
  const int count = g_caught_signals;
  if (count == taken_) return 0;
  taken_ = count;
  return g_caught_signal;
}

}  // namespace dsbuild
