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

std::vector<Warning> warnings_of(const MirrorUses& uses) {
  std::vector<Warning> warnings;
  if (!uses.off.empty())
    warnings.push_back(warning("remote_off", "--remote",
                               "this build went on without the shared cache: " + uses.off,
                               "The bundle is right all the same. Look whether the cache can be reached."));
  if (uses.counts.untrusted > 0)
    warnings.push_back(
        warning("remote_untrusted", "--remote-trust",
                std::to_string(uses.counts.untrusted) +
                    " of the shared cache's entries do not count; of the first: " + uses.untrusted_why,
                "Add the public key of those who upload, if you trust them."));
  return warnings;
}

}  // namespace dsbuild
