#include "ninja/progress.h"

#include <algorithm>
#include <cmath>

namespace dsbuild {
namespace {

const char* verb(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::cuda_compile:
    case EdgeKind::cuda_slice:
    case EdgeKind::cxx_compile:
      return "compile";
    case EdgeKind::link:
      return "link";
    case EdgeKind::verify:
      return "verify";
    case EdgeKind::comparison:
      return "compare";
  }
  return "";
}

// Cut to `columns` characters at most; a UTF-8 character is never split.
std::string clipped(std::string text, int columns) {
  size_t limit = static_cast<size_t>(std::max(columns, 1));
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xc0) == 0x80)
    --limit;
  return text.substr(0, limit);
}

}  // namespace

std::string seconds_text(double seconds) {
  const long tenths = std::lround(seconds * 10);
  if (tenths < 600) return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
  const long whole = std::lround(seconds);
  return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
}

std::string edge_title(const Edge& edge) {
  return std::string(verb(edge.kind)) + " " + edge.op + (edge.source.empty() ? "" : ": " + edge.source) +
         (edge.part.empty() ? "" : " [" + edge.part + "]");
}

std::string first_error_line(std::string_view output) {
  std::vector<std::string> lines = split_lines(output);
  // The linker's own lines say what is wrong; this one only that something is.
  std::erase_if(lines,
                [](const std::string& line) { return line.rfind("collect2: error: ld returned", 0) == 0; });
  for (const char* word : {"error", "fatal", "undefined reference", "not found", "cannot"})
    for (const std::string& line : lines)
      if (to_lower(line).find(word) != std::string::npos) return trim(printable(line));
  for (const std::string& line : lines)
    if (!trim(line).empty()) return trim(printable(line));
  return "";
}

Progress::Progress(Options options, std::function<void(std::string_view)> write,
                   std::function<double()> clock, std::function<std::string()> wall_clock)
    : options_(options),
      write_(std::move(write)),
      clock_(std::move(clock)),
      wall_clock_(std::move(wall_clock)) {
  start_ = clock_();
}

void Progress::on_event(const EdgeEvent& event) {
  finished_ = event.finished;
  total_ = event.total;
  if (event.kind == EdgeEventKind::started) {
    running_.push_back({event.edge, clock_(), clock_()});
  } else {
    running_.erase(std::remove_if(running_.begin(), running_.end(),
                                  [&](const Running& r) { return r.edge == event.edge; }),
                   running_.end());
    if (!options_.live && !options_.quiet)
      write_(wall_clock_() + " [" + std::to_string(finished_) + "/" + std::to_string(total_) + "] " +
             edge_title(*event.edge) + (event.kind == EdgeEventKind::failed ? " FAILED after " : " ") +
             seconds_text(event.seconds) +
             (options_.reasons && !event.reason.empty() ? ": " + event.reason : "") + "\n");
  }
  if (options_.live) draw();
}

void Progress::on_tick() {
  if (options_.live) {
    draw();
    return;
  }
  if (options_.quiet) return;
  const double now = clock_();
  for (Running& running : running_) {
    if (now - running.last_heartbeat < options_.heartbeat_seconds) continue;
    running.last_heartbeat = now;
    write_(wall_clock_() + " [" + std::to_string(finished_) + "/" + std::to_string(total_) + "] " +
           edge_title(*running.edge) + " still running after " + seconds_text(now - running.since) + "\n");
  }
}

void Progress::draw() {
  std::string line =
      "[" + std::to_string(finished_) + "/" + std::to_string(total_) + "] " + seconds_text(clock_() - start_);
  for (const Running& running : running_)
    line += "  " + edge_title(*running.edge);
  write_("\r" + clipped(line, options_.columns - 1) + "\x1b[K");
  drawn_ = true;
}

void Progress::finish() {
  if (drawn_) write_("\r\x1b[K");
  drawn_ = false;
}

}  // namespace dsbuild
