// What there is: this machine and its toolkits, the pack, the ops that are wanted, whether their requirements
// are met. Nothing here is changed by a plan.
#pragma once

#include <optional>
#include <vector>

#include "driver/request.h"
#include "driver/session.h"
#include "plan/arch_plan.h"
#include "requirements/requirements.h"
#include "sys/host.h"
#include "toolkit/tool_parts.h"

namespace dsbuild {

struct Machine {
  Host host;
  Toolkits toolkits;
};
// Errors: exit 3 `unsupported_host`.
Result<Machine> find_machine(const Settings& settings, Session& session);

// What all edges together may take: --memory, else 85 % of what is available.
ByteCount memory_for(const Settings& settings, const Host& host);
// Edges at a time: --jobs, else cores over nvcc's own threads.
int jobs_for(const Settings& settings, const Host& host);

// The selection from the pack, before anything is checked.
struct Selected {
  Registry registry;
  SelectedOps ops;
  bool only_cpu = false;               // `all` means the CPU ops
  Result<Torch> torch;                 // looked for only where an op of the pack asks for it
  CpuLevel cpu_level;                  // of --cpu-baseline
  std::vector<ToolkitDemand> demands;  // of each vendor whose GPUs are asked for, in their order
  std::vector<Target> gpus;            // asked only for --arch native
};
// Errors: those of load_registry, select_ops and check_any_selected.
Result<Selected> select_wanted(const Request& request, const Machine& machine, Session& session);

// The tools that were found for a demand.
struct DeviceTools {
  const Vendor* vendor = nullptr;
  Result<ChosenToolkit> chosen;
  std::optional<Toolkit> nearest;  // where none will do: the first that may be used at all, to say how far
  const Toolkit* toolkit() const;  // the chosen one, else the nearest, else nullptr
};

struct Survey {
  Request request;
  Machine machine;
  Selected selected;
  std::vector<DeviceTools> devices;  // of each vendor that something wanted is for, in their order
  Result<HostCompiler> cxx;          // of CPU ops
  ArchSet requested;                 // resolved with the toolkits
  RequirementReport requirements;
  HostCompilerParts host_parts;  // of those that were asked
  std::vector<Warning> warnings;

  const Settings& settings() const { return request.settings; }
  const DeviceTools* tools_of(const Vendor& vendor) const;  // nullptr: nothing wanted is for its GPUs
  ToolkitSet toolkits() const;
  ArchPlanInput arch_plan_input() const;
};

// What a build of the request needs. Errors besides those of the stages above: that no toolkit will do, or no
// C++ compiler.
Result<Survey> survey_wanted(Request request, Session& session);

// For those who only look: every op's requirements; what keeps a build from its tools is no error. Without a
// selection, every op is wanted.
Result<Survey> survey_all(Request request, Session& session);

}  // namespace dsbuild
