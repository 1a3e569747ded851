#include "package/installed_ops.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "base/version.h"

namespace dsbuild {
namespace {

// "0.0" is what DeepSpeed writes where there is none.
std::string short_or_none(const std::string& version) {
  const auto parsed = parse_version(version);
  return ascii_literal(parsed ? parsed->short_text() : "0.0");
}

bool belongs_to_deepspeed(const ManifestOp& op) {
  return op.module.rfind("deepspeed.", 0) == 0;
}

}  // namespace

std::optional<std::string> render_installed_ops(const Manifest& manifest,
                                                const std::vector<std::string>& ops) {
  std::vector<std::string> installed;
  for (const ManifestOp& op : manifest.ops)
    if (belongs_to_deepspeed(op) && std::ranges::count(ops, op.name) > 0)
      installed.push_back(ascii_literal(op.name) + ": True");
  if (installed.empty() || !manifest.torch) return std::nullopt;
  const ManifestTorch& torch = *manifest.torch;
  return "version = " + ascii_literal(manifest.source_version) +
         "\n"
         "git_hash = \"unknown\"\n"
         "git_branch = \"unknown\"\n"
         "installed_ops = {" +
         join(installed, ", ") +
         "}\n"
         "accelerator_name = " +
         ascii_literal(torch.accelerator) +
         "\n"
         "torch_info = {\"version\": " +
         short_or_none(torch.version) +
         ", \"bf16_support\": False, \"cuda_version\": " + short_or_none(torch.cuda) +
         ", \"nccl_version\": \"0.0\", \"hip_version\": " + short_or_none(torch.hip) + "}\n";
}

}  // namespace dsbuild
