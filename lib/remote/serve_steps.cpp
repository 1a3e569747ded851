#include "remote/serve_steps.h"

namespace dsbuild {

Result<std::unique_ptr<RequestServer>> serve_steps(std::shared_ptr<RemoteMirror> remote,
                                                   Environment& environment) {
  DSBUILD_TRY(server, open_request_server([remote = std::move(remote)](const std::string& question) {
                return answer_of(*remote, question);
              }));
  environment[k_upstream_variable] = server->name();
  return server;
}

std::optional<Warning> warning_of(const MirrorUses& uses) {
  if (uses.off.empty()) return std::nullopt;
  return warning("remote_off", "--remote", "this build went on without the shared cache: " + uses.off,
                 "The bundle is right all the same. Look whether the cache can be reached.");
}

}  // namespace dsbuild
