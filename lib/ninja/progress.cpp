#include "ninja/progress.h"

#include <algorithm>
#include <cmath>

namespace dsbuild {
namespace {

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

std::string rough_seconds_text(double seconds) {
  const long whole = std::max(std::lround(seconds), 1L);
  if (whole < 60) return std::to_string(whole) + " s";
  return std::to_string((whole + 30) / 60) + " min";
}

std::string edge_title(const Edge& edge) {
  return std::string(kind_row(edge.kind).verb) + " " + edge.op +
         (edge.source.empty() ? "" : ": " + edge.source) + (edge.part.empty() ? "" : " [" + edge.part + "]");
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

Progress::Progress(Options options, RunEstimate& estimate, std::function<void(std::string_view)> write,
                   std::function<double()> clock, std::function<std::string()> wall_clock)
    : options_(options),
      estimate_(estimate),
      write_(std::move(write)),
      clock_(std::move(clock)),
      wall_clock_(std::move(wall_clock)) {
  start_ = clock_();
}

std::string Progress::head() {
  const std::string count = "[" + std::to_string(finished_) + "/" + std::to_string(total_) + "]";
  return count + (estimate_.seconds_left() ? " " + std::to_string(estimate_.percent()) + "%" : "");
}

// "[=====>    ] ", as wide as a quarter of the line; "" where there is no room for one.
std::string Progress::bar() {
  constexpr int k_least_columns = 80, k_widest = 30, k_frame = 3;
  if (options_.columns < k_least_columns || !estimate_.seconds_left()) return "";
  const auto width = static_cast<size_t>(std::min(options_.columns / 4 - k_frame, k_widest));
  const size_t done = width * static_cast<size_t>(estimate_.percent()) / 100;
  return "[" + std::string(done, '=') + ">" + std::string(width - done - 1, ' ') + "] ";
}

void Progress::on_event(const EdgeEvent& event) {
  finished_ = event.finished;
  total_ = event.total;
  if (event.kind == EdgeEventKind::started) {
    running_.push_back({event.edge, clock_(), clock_()});
  } else if (event.kind == EdgeEventKind::ended) {
    std::erase_if(running_, [&](const Running& r) { return r.edge == event.edge; });
  } else {
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
    const std::optional<double> left = estimate_.seconds_left();
    write_(wall_clock_() + " " + head() + " " + edge_title(*running.edge) + " still running after " +
           seconds_text(now - running.since) +
           (left ? ", about " + rough_seconds_text(*left) + " left" : "") + "\n");
  }
}

// As many of the edges as have room, whole; the first is cut where even that has none.
void Progress::draw() {
  std::string line = bar() + head() + " " + seconds_text(clock_() - start_);
  if (const auto left = estimate_.seconds_left()) line += ", ~" + rough_seconds_text(*left) + " left";
  const auto columns = static_cast<size_t>(std::max(options_.columns - 1, 1));
  for (size_t i = 0; i < running_.size(); ++i) {
    const std::string title = "  " + visible(edge_title(*running_[i].edge));
    const size_t others = running_.size() - i - 1;
    const std::string more = others == 0 ? "" : "  +" + std::to_string(others);
    if (i > 0 && line.size() + title.size() + more.size() > columns) {
      line += "  +" + std::to_string(others + 1);
      break;
    }
    line += i == 0 ? clipped(title, static_cast<int>(columns) - static_cast<int>(line.size() + more.size()))
                   : title;
  }
  write_("\r" + clipped(line, static_cast<int>(columns)) + "\x1b[K");
  drawn_ = true;
}

void Progress::finish() {
  if (drawn_) write_("\r\x1b[K");
  drawn_ = false;
}

}  // namespace dsbuild
