#include "driver/watched_inputs.h"

#include "base/build_layout.h"
#include "exec/record.h"

namespace dsbuild {
namespace {

const std::string k_in_pack = std::string(k_pack_folder) + "/";

void add_inputs(const Path& record, const Path& source_root, const FileReader& files,
                std::set<Path>& folders) {
  const auto text = files.read_file(record);
  const auto read = text ? parse_record(*text) : std::nullopt;
  if (!read) return;
  for (const FileDigest& input : read->inputs)
    if (input.path.starts_with(k_in_pack))
      folders.insert((source_root / input.path.substr(k_in_pack.size())).parent_path());
}

}  // namespace

std::set<Path> folders_of_inputs(const Plan& plan, const FileReader& files) {
  const Registry& registry = plan.registry();
  std::set<Path> folders = {files.absolute(registry.spec_root), registry.source_root};
  for (const OpBuilder& op : registry.ops) {
    folders.insert(files.absolute(op.spec().file).parent_path());
    for (const SourceSpec& source : op.spec().sources)
      folders.insert((registry.source_root / source.path).parent_path());
    for (const auto& folder : op.spec().include_dirs)
      folders.insert(registry.source_root / folder.value);
  }
  const Path& build_dir = plan.settings().build_dir.value;
  for (const Edge& edge : plan.graph.edges)
    if (edge.reads_source())
      add_inputs(build_dir / record_file(edge.output), registry.source_root, files, folders);
  std::set<Path> tidy;
  for (const Path& folder : folders)
    tidy.insert(folder.lexically_normal());
  return tidy;
}

}  // namespace dsbuild
