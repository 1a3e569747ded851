// The survey: this machine and its toolkits, the pack, the selected ops, and whether their requirements are
// met. A plan does not change it.
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

// The memory that all edges together may use: --memory, else 85 % of the available memory.
ByteCount memory_for(const Settings& settings, const Host& host);
// How many edges run at once: --jobs, else the number of cores divided by nvcc's own threads.
int jobs_for(const Settings& settings, const Host& host);

// The selection from the pack, before any requirement is checked.
struct Selected {
  Registry registry;
  SelectedOps ops;
  bool only_cpu = false;               // `all` means the CPU ops
  Result<Torch> torch;                 // searched only if an op of the pack needs it
  CpuLevel cpu_level;                  // --cpu-baseline
  std::vector<ToolkitDemand> demands;  // one for each vendor whose GPUs are requested, in the vendors' order
  std::vector<Target> gpus;            // filled only for --arch native
};
// Errors: those of load_registry, select_ops and check_any_selected.
Result<Selected> select_wanted(const Request& request, const Machine& machine, Session& session);

// The toolkit that was found for a vendor's GPUs, or why there is none.
struct DeviceTools {
  const Vendor* vendor = nullptr;
  Result<ChosenToolkit> chosen;
  std::optional<Toolkit> nearest;  // if no toolkit fits: the first that may be used at all, so that reports
                                   // can say how far it goes
  const Toolkit* toolkit() const;  // chosen, else nearest, else nullptr
};

struct Survey {
  Request request;
  Machine machine;
  Selected selected;
  std::vector<DeviceTools> devices;  // one for each vendor that the selected ops need, in the vendors' order
  Result<HostCompiler> cxx;          // for CPU ops
  ArchSet requested;                 // by the chosen toolkits
  RequirementReport requirements;
  HostCompilerParts host_parts;  // of the compilers that were asked
  std::vector<Warning> warnings;

  const Settings& settings() const { return request.settings; }
  const DeviceTools* tools_of(const Vendor& vendor) const;  // nullptr: no selected op is for its GPUs
  ToolkitSet toolkits() const;
  ArchPlanInput arch_plan_input() const;
};

// The survey for a build of the request. Errors: those of the functions above; no toolkit or no C++ compiler
// fits.
Result<Survey> survey_wanted(Request request, Session& session);

// The survey for reports. Checks the requirements of every op. A missing toolkit or compiler is no error.
// Without a selection, all ops are selected.
Result<Survey> survey_all(Request request, Session& session);

}  // namespace dsbuild
