// The sliced backend: each whole nvcc command becomes edges of its parts, so that the architecture is the
// unit of work. front (preprocessor and cudafe++) → host ← the stub of one arch; one slice for each virtual
// arch (preprocessor, cicc, ptxas) → fatbin; the library links the host's object and the images'. All chains
// have equal length, because Ninja starts longer chains first, and parts of a long file must not wait for
// these.
#pragma once

#include <functional>

#include "nvcc/nvcc_commands.h"
#include "plan/build_plan.h"

namespace dsbuild {

// nvcc's own steps for a whole command without a source (its tools, flags and targets).
using LearnCommands = std::function<LearntCommands(const Args& nvcc)>;

struct SliceInput {
  LearnCommands learn;
};

// The number of files that stay whole nvcc commands, by the reason.
using WholeFiles = std::map<std::string, size_t>;

// A whole nvcc command that parts have replaced.
struct SlicedCommand {
  Edge whole;
  std::vector<std::string> step_files;  // of its parts, in their order
};

struct Sliced {
  WholeFiles whole_files;
  std::vector<SlicedCommand> commands;
};

// Replaces the CUDA compile edges and adds their planned files. An edge that cannot be sliced stays as it is.
// The caller puts the edges in order afterwards (edge_order.h).
Sliced slice_cuda_edges(BuildPlan& plan, const SliceInput& input);

// Replaces whole compiles by parts. `units`: output of a whole compile -> its parts. The libraries then also
// link the objects of the host code.
void replace_by_parts(BuildPlan& plan, std::map<std::string, std::vector<Edge>> units);
// The path of the host code's object, from that of the whole compile's object.
std::string host_object_of(const std::string& object);

// Undoes the slicing: the plan with whole commands, and links of only their objects.
BuildPlan with_whole_commands(BuildPlan plan, const std::vector<SlicedCommand>& commands);

}  // namespace dsbuild
