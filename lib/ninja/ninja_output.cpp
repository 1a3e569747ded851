// What Ninja prints on a terminal -> events. On a terminal it shows its status when an edge starts and again
// when it ends; ours is "@dsbuild <started> <finished> <total> <output>". Everything printed after an end
// belongs to that edge: "FAILED: <outputs>", its command, and what its tools said.
#include <algorithm>

#include "ninja/ninja_run.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_mark = "@dsbuild ";
constexpr std::string_view k_stopped = "ninja: build stopped: ";

}  // namespace

const char* NinjaOutputParser::status_format() {
  return "@dsbuild %s %f %t ";
}

NinjaOutputParser::NinjaOutputParser(const BuildPlan& plan, std::function<void(const EdgeEvent&)> on_event,
                                     std::function<double()> clock)
    : on_event_(std::move(on_event)), clock_(std::move(clock)) {
  for (const Edge& edge : plan.edges)
    edges_.emplace(edge.output, &edge);
}

void NinjaOutputParser::feed(std::string_view bytes) {
  // A status ends with "erase to end of line", so a start is seen when it happens and not at the next line.
  constexpr std::string_view k_erase = "\x1b[K";
  // What pends has no end of a line, but may have the beginning of one: a tool's line may have megabytes.
  size_t at = pending_.size() - std::min(pending_.size(), k_erase.size() - 1);
  pending_ += bytes;
  size_t begin = 0;
  while ((at = pending_.find_first_of("\x1b\n\r", at)) != std::string::npos) {
    const bool erase = pending_.compare(at, k_erase.size(), k_erase) == 0;
    if (pending_[at] == '\x1b' && !erase) {
      ++at;
      continue;
    }
    line(pending_.substr(begin, at - begin));
    begin = at + (erase ? k_erase.size() : 1);
    at = begin;
  }
  pending_.erase(0, begin);
}

void NinjaOutputParser::end() {
  if (!pending_.empty()) line(std::exchange(pending_, {}));
  close_ended();
}

void NinjaOutputParser::line(const std::string& raw) {
  if (raw.starts_with(k_mark)) {  // names are as in the graph, whatever is in them
    status(raw.substr(k_mark.size()));
    return;
  }
  const std::string text = printable(raw);
  if (text.starts_with("ninja: ")) {
    if (text.starts_with("ninja: error: ") || text.starts_with("ninja: fatal: ")) result_.trouble = text;
    if (text.starts_with(k_stopped)) result_.stopped = text.substr(k_stopped.size());
  } else if (ended_ && text.starts_with("FAILED: ")) {
    ended_->failed = true;
    expect_command_ = true;
  } else if (ended_ && expect_command_) {
    ended_->command = raw;
    expect_command_ = false;
  } else if (ended_ && !(text.empty() && ended_->output.empty())) {
    ended_->output += text + "\n";
  }
}

void NinjaOutputParser::status(const std::string& text) {
  const std::vector<std::string> words = split(text, " ");
  if (words.size() < 4) return;
  close_ended();
  const int started = whole_number<int>(words[0]).value_or(0);
  const int finished = whole_number<int>(words[1]).value_or(0);
  total_ = whole_number<int>(words[2]).value_or(0);
  // Ninja quotes a name for the shell, where it is not of plain characters alone.
  const std::vector<std::string> outputs =
      shell_split(text.substr(text.find(words[3], words[0].size() + words[1].size() + words[2].size() + 3)));
  const auto found = outputs.empty() ? edges_.end() : edges_.find(outputs.front());
  const Edge* edge = found == edges_.end() ? nullptr : found->second;
  if (started > started_) {
    started_ = started;
    if (edge) start(*edge);
  }
  if (finished > finished_) {
    finished_ = finished;
    if (edge) finish(*edge);
  }
}

void NinjaOutputParser::start(const Edge& edge) {
  running_.emplace_back(&edge, clock_());
  on_event_({EdgeEventKind::started, &edge, 0, finished_, total_, {}, {}, {}});
}

void NinjaOutputParser::finish(const Edge& edge) {
  const auto running =
      std::find_if(running_.begin(), running_.end(), [&](const auto& entry) { return entry.first == &edge; });
  FinishedEdge ended;
  ended.edge = &edge;
  if (running != running_.end()) {
    ended.begin = running->second;
    ended.seconds = clock_() - running->second;
    running_.erase(running);
  }
  on_event_({EdgeEventKind::ended, &edge, ended.seconds, finished_, total_, {}, {}, {}});
  ended_ = std::move(ended);
}

// The edge that ended last has printed all it had to say.
void NinjaOutputParser::close_ended() {
  if (!ended_) return;
  const EdgeEventKind kind = ended_->failed ? EdgeEventKind::failed : EdgeEventKind::finished;
  while (ended_->output.size() > 1 && ended_->output.compare(ended_->output.size() - 2, 2, "\n\n") == 0)
    ended_->output.pop_back();  // the line break before Ninja's next status
  on_event_({kind, ended_->edge, ended_->seconds, finished_, total_, ended_->output, ended_->command, {}});
  result_.finished.push_back(std::move(*ended_));
  ended_.reset();
  expect_command_ = false;
}

RunResult NinjaOutputParser::take_result() {
  return std::move(result_);
}

}  // namespace dsbuild
