// The memory for which the memory gate admits each edge: from earlier builds, and from edges of this build
// that have ended.
#pragma once

#include "driver/plan.h"

namespace dsbuild {

// The number of archs that the edge's nvcc compiles in parallel (--threads): the user's, else so many that no
// core is idle (edge_environment in graph_run.cpp). 1 for an edge that is no whole nvcc command.
int threads_of_nvcc(const Edge& edge, const Plan& plan, const BuildPlan& graph);

class EdgeNeeds {
 public:
  // Both must outlive this object.
  EdgeNeeds(const Plan& plan, const BuildPlan& graph);

  // Returns zeros for an output that the graph does not have.
  GateNeeds of(const GateAsk& ask);
  // Call it when an edge has ended and all its tools ran. From then on, the expected memory of the source's
  // other edges depends on this one.
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
