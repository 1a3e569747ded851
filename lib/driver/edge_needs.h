// What the gate lets the edges of a graph in with: what is known of them before the build, and what is learnt
// while it runs.
#pragma once

#include "driver/plan.h"

namespace dsbuild {

// Of an edge's targets, how many its nvcc compiles at once: as the user says, else as cores are idle
// (edge_environment in graph_run.cpp). 1 of what is no whole nvcc command.
int threads_of_nvcc(const Edge& edge, const Plan& plan, const BuildPlan& graph);

class EdgeNeeds {
 public:
  // Both outlive it.
  EdgeNeeds(const Plan& plan, const BuildPlan& graph);

  // Nothing for an output that is none of the graph's.
  GateNeeds of(const GateAsk& ask);
  // An edge has ended, all its tools have run: what its sisters are expected to need goes by that from now
  // on.
  void learn(const std::string& output, const GateUse& use);

 private:
  const Edge* find(const std::string& output) const;

  const Plan& plan_;
  const BuildPlan& graph_;
  const std::string& pack_;
  EdgeHistory history_;
  std::map<std::string, const Edge*> edges_;  // by output
};

}  // namespace dsbuild
