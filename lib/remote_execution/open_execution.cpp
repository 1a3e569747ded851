#include "remote_execution/open_execution.h"

#include "remote/open_remote.h"

namespace dsbuild {

Result<std::shared_ptr<ExecutionService>> open_execution(const Settings& settings, System& system) {
  const std::string& url = settings.remote_exec.value;
  if (url.empty()) return std::shared_ptr<ExecutionService>();
  if (!url.starts_with("reapi://") && !url.starts_with("reapis://"))
    return fail(Exit::usage, "bad_remote_url", settings.remote_exec.origin,
                "'" + printable(without_password(url)) + "' is not an address of the Remote Execution API",
                "Name a server, as in reapis://build.example.org/main.");
  DSBUILD_TRY(options, server_options(settings, settings.remote_exec, system));
  DSBUILD_TRY(service,
              open_execution_service(options, static_cast<size_t>(settings.remote_jobs.value), system.files));
  return std::shared_ptr<ExecutionService>(std::move(service));
}

ExecutorOptions executor_options(const Settings& settings) {
  ExecutorOptions options;
  options.slots = static_cast<size_t>(settings.remote_jobs.value);
  options.idle_cores_help = settings.remote_local.value == RemoteLocal::automatic;
  options.variables = settings.pass_environment.value;
  for (const std::string& property : settings.remote_platform.value) {
    const size_t equals = property.find('=');
    options.platform[property.substr(0, equals)] = property.substr(equals + 1);
  }
  return options;
}

std::string worker_home(const Settings& settings) {
  const std::string& tools = settings.remote_tools.value;
  return tools.starts_with(k_worker_tools) ? tools.substr(std::string_view(k_worker_tools).size()) : "";
}

std::vector<Warning> warnings_of(const ExecutorUses& uses) {
  if (uses.off.empty()) return {};
  return {
      warning("execution_off", "--remote-exec", "the rest of this build ran on this machine: " + uses.off,
              "The bundle is right all the same. Look whether the service can be reached and has workers.")};
}

}  // namespace dsbuild
