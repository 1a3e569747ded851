// Catches signals that would end the program.
#pragma once

namespace dsbuild {

// While one lives, SIGINT, SIGTERM and SIGHUP are remembered. One that our caller set to be ignored (nohup)
// stays ignored. Several may live at once: each takes every signal.
class SignalCatcher {
 public:
  SignalCatcher();
  SignalCatcher(const SignalCatcher&) = delete;
  SignalCatcher& operator=(const SignalCatcher&) = delete;
  ~SignalCatcher();

  // The signal that came since the last call, or 0.
  int take();

 private:
  int taken_;
};

}  // namespace dsbuild
