#include "ninja/progress.h"

#include <algorithm>
#include <cmath>

namespace dsbuild {
namespace {

constexpr double k_least_seconds = 0.05;  // of any edge

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

Progress::Progress(Options options, ExpectedRun expected, std::function<void(std::string_view)> write,
                   std::function<double()> clock, std::function<std::string()> wall_clock)
    : options_(options),
      expected_(std::move(expected)),
      write_(std::move(write)),
      clock_(std::move(clock)),
      wall_clock_(std::move(wall_clock)) {
  start_ = clock_();
  for (const auto& [output, seconds] : expected_.seconds)
    expected_sum_ += std::max(seconds, k_least_seconds);
}

double Progress::expected_seconds(const Edge& edge) const {
  const auto known = expected_.seconds.find(edge.output);
  return std::max(known == expected_.seconds.end() ? 0 : known->second, k_least_seconds);
}

// What edges took before says how much of the work is done; how fast it goes this machine shows, once a tenth
// is done. Until then it is taken to work on all jobs at once.
Progress::Estimate Progress::estimate() {
  constexpr double k_enough = 0.1;
  const double now = clock_(), elapsed = now - start_;
  double done = expected_done_, longest_left = 0;
  for (const Running& running : running_) {
    const double expected = expected_seconds(*running.edge);
    const double worked = std::min(now - running.since, 0.95 * expected);
    done += worked;
    longest_left = std::max(longest_left, expected - worked);
  }
  if (expected_sum_ <= 0) return {};
  const double part = std::min(done / expected_sum_, 1.0);
  percent_ = std::max(percent_, std::min(static_cast<int>(part * 100), 99));
  if (elapsed < k_least_seconds) return {percent_, std::nullopt};
  const double left = std::max(expected_sum_ - done, 0.0);
  const double rate = part > k_enough ? done / elapsed : std::max(expected_.jobs, 1);
  return {percent_, std::max(left / rate, part > k_enough ? 0.0 : longest_left)};
}

std::string Progress::head() {
  const Estimate now = estimate();
  std::string text = "[" + std::to_string(finished_) + "/" + std::to_string(total_) + "]";
  if (expected_sum_ > 0) text += " " + std::to_string(now.percent) + "%";
  return text;
}

void Progress::on_event(const EdgeEvent& event) {
  finished_ = event.finished;
  total_ = event.total;
  if (event.kind == EdgeEventKind::started) {
    running_.push_back({event.edge, clock_(), clock_()});
  } else if (event.kind == EdgeEventKind::ended) {
    std::erase_if(running_, [&](const Running& r) { return r.edge == event.edge; });
    expected_done_ += expected_seconds(*event.edge);
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
    const Estimate estimated = estimate();
    write_(
        wall_clock_() + " " + head() + " " + edge_title(*running.edge) + " still running after " +
        seconds_text(now - running.since) +
        (estimated.seconds_left ? ", about " + rough_seconds_text(*estimated.seconds_left) + " left" : "") +
        "\n");
  }
}

// As many of the edges as have room, whole; the first is cut where even that has none.
void Progress::draw() {
  const Estimate now = estimate();
  std::string line = head() + " " + seconds_text(clock_() - start_);
  if (now.seconds_left && expected_sum_ > 0) line += ", ~" + rough_seconds_text(*now.seconds_left) + " left";
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
