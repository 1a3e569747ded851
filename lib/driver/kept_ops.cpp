#include "driver/kept_ops.h"

#include <algorithm>

#include "bundle/bundle.h"

namespace dsbuild {
namespace {

bool has_bundle(const Settings& settings, const FileReader& files) {
  return settings.add.value && files.kind(settings.out.value / k_manifest_name) == FileKind::file;
}

bool is_left_out(const Selection& selection, const std::string& name) {
  return std::binary_search(selection.without.begin(), selection.without.end(), name);
}

tl::unexpected<Error> lost_op(const std::string& lost, const Settings& settings, const Registry& registry) {
  const Selection& selection = settings.selection;
  std::vector<std::string> rest = selection.names;
  for (const std::string& name : selection.kept)
    if (registry.find(name) && !is_left_out(selection, name)) rest.push_back(name);
  std::sort(rest.begin(), rest.end());
  rest.erase(std::unique(rest.begin(), rest.end()), rest.end());
  const std::string instead = selection.all ? "all" : join(rest, ",");
  return fail(Exit::usage, "unknown_op", settings.add.origin,
              settings.out.value.string() + " has the op '" + printable(lost) + "', and pack '" +
                  registry.pack + "' has it no more",
              "Name what is to be built, without " + settings.add.origin +
                  (instead.empty() ? "." : ": --ops " + instead));
}

}  // namespace

Result<void> keep_ops_of_bundle(const FileReader& files, Settings& settings) {
  if (!has_bundle(settings, files)) return {};
  DSBUILD_TRY(manifest, load_manifest(settings.out.value, files));
  for (const ManifestOp& op : manifest.ops)
    settings.selection.kept.push_back(op.name);
  const std::string origin = settings.add.origin + " (" + settings.out.value.string() + ")";
  if (!settings.arch.is_default() || manifest.requested.empty()) return {};
  settings.arch = {ArchRequest{.targets = manifest.requested}, origin};
  settings.arch_text = {arch_list(manifest.requested), origin};
  return {};
}

Result<void> check_kept_ops(const Settings& settings, const Registry& registry, const FileReader& files) {
  if (!has_bundle(settings, files)) return {};
  DSBUILD_TRY(manifest, load_manifest(settings.out.value, files));
  if (manifest.pack != registry.pack)
    return fail(Exit::usage, "other_pack", settings.add.origin,
                "the bundle in " + settings.out.value.string() + " is of pack '" + manifest.pack +
                    "', and pack '" + registry.pack + "' is built: a bundle is of one pack",
                "Give another folder with --out, or leave " + settings.add.origin +
                    " out: then the bundle is replaced.");
  for (const std::string& name : settings.selection.kept)
    if (!registry.find(name) && !registry.find_absent(name) && !is_left_out(settings.selection, name))
      return lost_op(name, settings, registry);
  return {};
}

}  // namespace dsbuild
