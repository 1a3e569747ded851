// Shows progress while edges run. On a terminal, it draws one live line. Elsewhere, it prints a line with the
// time for each finished edge, without carriage returns, and a heartbeat for an edge that runs longer than 30
// s.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ninja/run_estimate.h"

namespace dsbuild {

class Progress {
 public:
  struct Options {
    bool live = false;  // stderr is a terminal and nothing asked for quiet
    bool quiet = false;
    bool reasons = false;  // prints why each edge ran; not on a live line
    int columns = 80;      // of the live line
    double heartbeat_seconds = 30;
  };
  // `estimate`: of this run. It receives each event before this object does.
  Progress(Options options, RunEstimate& estimate, std::function<void(std::string_view)> write,
           std::function<double()> clock, std::function<std::string()> wall_clock);
  void on_event(const EdgeEvent& event);
  void on_tick();
  void finish();  // clears the live line

 private:
  void draw();
  std::string head();
  std::string bar();
  struct Running {
    const Edge* edge;
    double since;
    double last_heartbeat;
  };
  Options options_;
  RunEstimate& estimate_;
  std::function<void(std::string_view)> write_;
  std::function<double()> clock_;
  std::function<std::string()> wall_clock_;
  std::vector<Running> running_;
  int finished_ = 0, total_ = 0;
  double start_ = 0;
  bool drawn_ = false;
};

// "12.3 s", "2 min 3 s".
std::string seconds_text(double seconds);
// For an estimate: "8 s", "3 min".
std::string rough_seconds_text(double seconds);
// "fused_adam: fused_adam/fused_adam.cu" for an edge.
std::string edge_title(const Edge& edge);
// The first line of compiler output that names an error, cleaned for a terminal; "" if there is none.
std::string first_error_line(std::string_view output);

}  // namespace dsbuild
