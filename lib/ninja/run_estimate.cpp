#include "ninja/run_estimate.h"

#include <algorithm>
#include <cmath>

namespace dsbuild {
namespace {

constexpr double k_least_seconds = 0.05;  // of any edge
// How far an edge's time is from what is expected of it: the deviation of the logarithm.
constexpr double k_spread_of_measured = 0.12, k_spread_of_sister = 0.3, k_spread_of_guess = 0.6;

std::vector<RehearsedEdge> rehearsed(const ExpectedRun& run) {
  std::vector<RehearsedEdge> edges;
  for (const ExpectedEdge& each : run.edges)
    edges.push_back({each.edge, each.seconds, each.peak_bytes});
  return edges;
}

double upper_tail(double z) {
  return std::erfc(z / std::sqrt(2)) / 2;
}

// Of what takes `expected` in the mean, is log-normal and has gone on for `worked`: the mean of what is left.
double mean_left(double expected, double spread, double worked) {
  if (worked < k_least_seconds) return expected;
  constexpr double k_far = 6;  // beyond, both tails are too small to be divided
  const double z = (std::log(worked / expected) + spread * spread / 2) / spread;
  if (z > k_far) return worked * spread / z;
  return std::max(expected * upper_tail(z - spread) / upper_tail(z) - worked, 0.0);
}

std::string kind_of(const Edge& edge) {
  return std::string(kind_row(edge.kind).word) + " " + (edge.is_slice() ? "" : edge.part);
}

}  // namespace

double RunEstimate::Tally::factor(double before) const {
  constexpr double k_edges = 2;  // that believe in it
  const double weight = k_edges * expected / std::max(edges, 1);
  return weight + known <= 0 ? before : (weight * before + took) / (weight + known);
}

RunEstimate::RunEstimate(const ExpectedRun& expected, std::function<double()> clock,
                         std::function<double(const std::string&)> waited)
    : clock_(std::move(clock)),
      waited_(std::move(waited)),
      graph_(rehearsed(expected), expected.jobs, expected.memory_bytes),
      begin_(clock_()) {
  for (const ExpectedEdge& each : expected.edges) {
    Part part{.expected = each};
    part.expected.seconds = std::max(each.seconds, k_least_seconds);
    const std::string sure = each.measured ? "measured" : "guessed";
    part.population = sure;
    part.group = sure + " " + kind_of(*each.edge);
    if (each.edge->is_slice()) part.sisters = each.edge->op + " " + each.edge->source;
    for (const std::string& name : {part.population, part.group}) {
      tallies_[name].expected += part.expected.seconds;
      ++tallies_[name].edges;
    }
    place_[each.edge->output] = parts_.size();
    parts_.push_back(std::move(part));
  }
}

void RunEstimate::on_event(const EdgeEvent& event) {
  const auto place = place_.find(event.edge->output);
  if (place == place_.end()) return;
  Part& part = parts_[place->second];
  if (event.kind == EdgeEventKind::started) {
    part.state = EdgeLeft::State::runs;
    part.begin = clock_();
  } else if (event.kind == EdgeEventKind::ended) {
    const double took = worked(part);
    part.state = EdgeLeft::State::ended;
    count(part, took, tallies_);
    if (part.sisters.empty()) return;
    Tally& sisters = sisters_[part.sisters];
    sisters.took += took;
    ++sisters.edges;
  }
}

void RunEstimate::count(const Part& part, double took, std::map<std::string, Tally>& tallies) {
  for (const std::string& name : {part.population, part.group}) {
    tallies[name].known += part.expected.seconds;
    tallies[name].took += took;
  }
}

double RunEstimate::worked(const Part& part) const {
  return std::max(clock_() - part.begin - waited_(part.expected.edge->output), 0.0);
}

// What has already taken longer than it was to take says so of its like, too.
void RunEstimate::count_overdue(std::map<std::string, Tally>& tallies) const {
  for (const Part& part : parts_) {
    if (part.state != EdgeLeft::State::runs) continue;
    const double took = worked(part);
    if (took > seconds_of(part, tallies_)) count(part, took, tallies);
  }
}

double RunEstimate::seconds_of(const Part& part, const std::map<std::string, Tally>& tallies) const {
  if (const Tally* sisters = sisters_of(part)) return sisters->took / sisters->edges;
  const double factor = tallies.at(part.group).factor(tallies.at(part.population).factor(1));
  // Guesses are wrong by chance, too: what was far from them says less of what is left.
  constexpr double k_trust = 0.75;
  return part.expected.seconds * (part.expected.measured ? factor : std::pow(factor, k_trust));
}

const RunEstimate::Tally* RunEstimate::sisters_of(const Part& part) const {
  const auto found = sisters_.find(part.sisters);
  return part.expected.measured || found == sisters_.end() ? nullptr : &found->second;
}

EdgeLeft RunEstimate::left_of(const Part& part, const std::map<std::string, Tally>& tallies) const {
  if (part.state == EdgeLeft::State::ended) return {part.state, 0};
  const double expected = std::max(seconds_of(part, tallies), k_least_seconds);
  if (part.state == EdgeLeft::State::waits) return {part.state, expected};
  const double spread = part.expected.measured ? k_spread_of_measured
                        : sisters_of(part)     ? k_spread_of_sister
                                               : k_spread_of_guess;
  return {part.state, mean_left(expected, spread, worked(part))};
}

// A run that turns out to be longer is said to be still longer by as much, and the more the more often that
// was so: what goes up time and again says nothing.
void RunEstimate::think(double now) {
  constexpr double k_worth_a_step = 0.08, k_least_step = 1.5, k_most_beyond = 0.25;
  std::map<std::string, Tally> tallies = tallies_;
  count_overdue(tallies);
  std::vector<EdgeLeft> left;
  for (const Part& part : parts_)
    left.push_back(left_of(part, tallies));
  const double seconds = graph_.from(left).seconds, end = now + seconds, late = end - end_;
  if (!thought_)
    end_ = end;
  else if (late > std::max(k_worth_a_step * seconds, k_least_step))
    end_ = end + std::min(late * steps_++, k_most_beyond * seconds);
  else if (late < 0)
    end_ += late / 2;
  thought_ = now;
}

std::optional<double> RunEstimate::seconds_left() {
  constexpr double k_between = 1;
  if (parts_.empty()) return std::nullopt;
  const double now = clock_();
  const bool is_due = !thought_ || now - *thought_ >= k_between;
  if (is_due) think(now);
  const double left = std::max(end_ - now, 0.0);
  if (is_due) note({now - begin_, left});
  return left;
}

void RunEstimate::note(const Announcement& said) {
  constexpr size_t k_most = 600;
  if (!said_.empty() && said.seconds - said_.back().seconds < between_) return;
  said_.push_back(said);
  if (said_.size() < k_most) return;
  between_ *= 2;
  for (size_t i = 0; i < said_.size() / 2; ++i)
    said_[i] = said_[2 * i];
  said_.resize(said_.size() / 2);
}

int RunEstimate::percent() {
  const double elapsed = clock_() - begin_, left = seconds_left().value_or(0);
  if (elapsed + left > 0 && !parts_.empty())
    percent_ = std::max(percent_, std::min(static_cast<int>(100 * elapsed / (elapsed + left)), 99));
  return percent_;
}

}  // namespace dsbuild
