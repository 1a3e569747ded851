#include "plan/slice_edges.h"

#include <algorithm>
#include <functional>

#include "arch/nvidia.h"
#include "base/build_layout.h"
#include "base/digest.h"
#include "nvcc/step_file.h"
#include "plan/backend.h"

namespace dsbuild {
namespace {

// Without the object's ".o".
std::string unit_of(const std::string& object) {
  return object.substr(0, object.size() - std::string_view(".o").size());
}

Args nvcc_command(const BuildPlan& plan, const Edge& edge) {
  Args words = plan.tools.of(k_nvcc_tool);
  words.insert(words.end(), edge.flags.begin(), edge.flags.end());
  for (const Target& target : edge.targets)
    words.push_back(target.flag());
  return words;
}

// For people, who add the arch and the source: the seed is only for the bytes.
Args without_archs_and_seed(Args nvcc) {
  std::erase_if(nvcc, [](const std::string& word) {
    return word.starts_with("-gencode=") || word.starts_with("-frandom-seed=");
  });
  return nvcc;
}

ArchSet made_of(const ArchSet& targets, const std::string& virtual_arch) {
  ArchSet found;
  for (const Target& target : targets)
    if (virtual_name(target) == virtual_arch) found.insert(target);
  return found;
}

// What all files with the same flags and targets have in common.
struct Recipe {
  std::string refusal;  // why they stay whole commands; else ""
  std::string arch_list;
  std::vector<StepFile> steps;
  std::vector<std::string> step_files;  // where each step is written
  std::set<std::string> inputs;         // of all steps, which others make
};

class Slicer {
 public:
  Slicer(BuildPlan& plan, const SliceInput& input) : plan_(plan), input_(input) {}

  Sliced run() {
    for (const Edge& edge : plan_.edges)
      if (edge.kind == EdgeKind::cuda_compile) take(edge);
    replace_by_parts(plan_, std::move(units_));
    forget_order_of_whole_files();
    for (const auto& [path, content] : step_contents_)
      plan_.files.push_back({path, content});
    return std::move(sliced_);
  }

 private:
  void take(const Edge& whole) {
    const Recipe& recipe = recipe_for(whole);
    if (!recipe.refusal.empty()) {
      ++sliced_.whole_files[recipe.refusal];
      return;
    }
    std::vector<Edge>& parts = units_[whole.output];
    for (size_t i = 0; i < recipe.steps.size(); ++i)
      parts.push_back(part_edge(whole, recipe.steps[i], recipe.step_files[i], recipe.inputs));
    sliced_.commands.push_back({whole, recipe.step_files});
    plan_.files.push_back({unit_of(whole.output) + k_module_id_end, module_id_of(whole.source)});
    plan_.files.push_back({unit_of(whole.output) + k_arch_list_end, recipe.arch_list + "\n"});
  }

  // Learnt once, however many files have these flags.
  const Recipe& recipe_for(const Edge& whole) {
    const Args nvcc = nvcc_command(plan_, whole);
    const auto [found, is_new] = recipes_.try_emplace(dry_run_command(nvcc));
    if (is_new) found->second = learn_recipe(nvcc);
    return found->second;
  }

  Recipe learn_recipe(const Args& nvcc) {
    Recipe recipe;
    if (const std::string flag = unsliceable_flag(nvcc); !flag.empty()) {
      recipe.refusal = "has " + flag;
      return recipe;
    }
    const auto commands = input_.learn(nvcc);
    if (!commands) {
      recipe.refusal = commands.error();
      return recipe;
    }
    recipe.arch_list = commands->arch_list;
    recipe.steps = plan_steps(*commands, without_archs_and_seed(nvcc));
    for (const StepFile& step : recipe.steps) {
      recipe.inputs.insert(step.inputs.begin(), step.inputs.end());
      const std::string content = render_step_file(step);
      recipe.step_files.push_back(std::string(k_steps_folder) + "/" + sha256(content).substr(0, 16));
      step_contents_[recipe.step_files.back()] = content;
    }
    return recipe;
  }

  // Of the outputs those that some part reads, for Ninja looks at each file of its graph; libraries read the
  // others' first one.
  static std::vector<std::string> ends_in_graph(const StepFile& step, const std::set<std::string>& inputs) {
    std::vector<std::string> ends;
    std::copy_if(step.outputs.begin(), step.outputs.end(), std::back_inserter(ends),
                 [&](const std::string& end) { return inputs.count(end) > 0; });
    return ends.empty() ? std::vector<std::string>{step.outputs.front()} : ends;
  }

  // `inputs`: of all parts.
  static Edge part_edge(const Edge& whole, const StepFile& step, const std::string& step_file,
                        const std::set<std::string>& inputs) {
    const std::string unit = unit_of(whole.output);
    Edge edge;
    edge.kind = EdgeKind::cuda_slice;
    edge.op = whole.op;
    edge.source = whole.source;
    edge.part = step.part;
    edge.step_file = step_file;
    edge.targets = made_of(whole.targets, step.part);
    if (edge.reads_source()) {
      edge.inputs = whole.inputs;
      edge.implicit_inputs = whole.implicit_inputs;
    } else {
      for (const std::string& input : step.inputs)
        edge.inputs.push_back(unit + input);
      edge.implicit_inputs = {k_nvcc_id_file};
      if (step.part == "fatbin") edge.flags = {whole.inputs.front()};  // images may name it
    }
    const std::vector<std::string> ends = ends_in_graph(step, inputs);
    edge.output = unit + ends.front();
    for (size_t i = 1; i < ends.size(); ++i)
      edge.more_outputs.push_back(unit + ends[i]);
    if (!whole.after.empty() && step.part != "fatbin") edge.after = unit_of(whole.after) + ends.front();
    return edge;
  }

  // Only parts of two sliced files may be the same.
  void forget_order_of_whole_files() {
    std::set<std::string> slices;
    for (const Edge& edge : plan_.edges)
      if (edge.kind == EdgeKind::cuda_slice) slices.insert(edge.output);
    for (Edge& edge : plan_.edges)
      if (edge.kind == EdgeKind::cuda_compile ||
          (edge.kind == EdgeKind::cuda_slice && slices.count(edge.after) == 0))
        edge.after.clear();
  }

  BuildPlan& plan_;
  const SliceInput& input_;
  std::map<std::string, std::vector<Edge>> units_;  // by the object
  std::map<Args, Recipe> recipes_;                  // by what is asked of nvcc
  std::map<std::string, std::string> step_contents_;
  Sliced sliced_;
};

}  // namespace

std::string host_object_of(const std::string& object) {
  return unit_of(object) + ".host.o";
}

void replace_by_parts(BuildPlan& plan, std::map<std::string, std::vector<Edge>> units) {
  std::vector<Edge> edges;
  for (Edge& edge : plan.edges) {
    if (edge.kind == EdgeKind::link) {
      std::vector<std::string> objects;
      for (const std::string& input : edge.inputs) {
        objects.push_back(input);
        if (units.count(input) > 0) objects.push_back(host_object_of(input));
      }
      edge.inputs = std::move(objects);
    }
    const auto parts = units.find(edge.output);
    if (parts == units.end())
      edges.push_back(std::move(edge));
    else
      std::move(parts->second.begin(), parts->second.end(), std::back_inserter(edges));
  }
  plan.edges = std::move(edges);
}

Sliced slice_cuda_edges(BuildPlan& plan, const SliceInput& input) {
  return Slicer(plan, input).run();
}

BuildPlan with_whole_commands(BuildPlan plan, const std::vector<SlicedCommand>& commands) {
  std::set<std::string> hosts;
  std::erase_if(plan.edges, std::mem_fn(&Edge::is_part));
  for (const SlicedCommand& command : commands) {
    plan.edges.push_back(command.whole);
    hosts.insert(host_object_of(command.whole.output));
  }
  for (Edge& edge : plan.edges)
    if (edge.kind == EdgeKind::link)
      std::erase_if(edge.inputs, [&](const std::string& input) { return hosts.count(input) > 0; });
  return plan;
}

}  // namespace dsbuild
