#include "driver/torch_readers.h"

#include <algorithm>

#include "exec/lists.h"
#include "exec/record.h"
#include "inputs/torch_headers.h"
#include "plan/backend.h"

namespace dsbuild {
namespace {

class TorchReaderSearch {
 public:
  TorchReaderSearch(const Survey& survey, const SourceDigests& digests, Session& session)
      : survey_(survey),
        digests_(digests),
        files_(session.system.files),
        facts_(session.build_facts),
        build_dir_(survey.settings().build_dir.value),
        lists_(files_, build_dir_, std::nullopt),
        includes_(survey.selected.registry.source_root, files_) {}

  TorchReaders run(const ArchPlan& archs) {
    for (const PlannedOp& op : archs.ops)
      if (op.status == OpStatus::build) look_at(op);
    return std::move(found_);
  }

 private:
  void look_at(const PlannedOp& op) {
    const std::vector<Path> folders = include_folders(op.name);
    for (const PlannedSource& planned : op.sources) {
      const SourceSpec& source = planned.source;
      const std::string input = source_path(source.path);
      if (found_.all.count(input) > 0) continue;
      const auto recorded =
          has_read(Path(object_path(op.name, source)).parent_path(), input, digests_.at(source.path));
      const TorchUse used = recorded ? *recorded : may_include(source.path, folders);
      if (used != TorchUse::none) found_.all.insert(input);
      if (used == TorchUse::interface) found_.of_interface.insert(input);
    }
  }

  // By the records of the source's parts that have read it as it is; nullopt: there is none.
  std::optional<TorchUse> has_read(const Path& folder, const std::string& input, const std::string& digest) {
    std::optional<TorchUse> found;
    const auto names = files_.list(build_dir_ / folder);
    for (const std::string& name : names ? *names : std::vector<std::string>{}) {
      if (!name.ends_with(k_record_end)) continue;
      const auto text = files_.read_file(build_dir_ / folder / name);
      const auto record = text ? parse_record(*text) : std::nullopt;
      if (!record || std::ranges::find(record->inputs, FileDigest{input, digest}) == record->inputs.end())
        continue;
      if (has_torchs_headers(record->others)) return TorchUse::all;
      found = TorchUse::none;
    }
    return found;
  }

  // Lists are long, and few are new.
  bool has_torchs_headers(const std::string& list) {
    const std::string key = "torch's headers among " + list;
    auto answer = facts_.find(key, "");
    if (!answer) {
      answer = std::ranges::any_of(lists_.paths(list), is_torchs_header) ? "yes" : "no";
      facts_.put(key, "", *answer);
    }
    return *answer == "yes";
  }

  // Without a torch that an op asks for there is nothing to look for.
  TorchUse may_include(const std::string& source, const std::vector<Path>& folders) {
    return survey_.requirements.torch ? includes_.use(source, folders) : TorchUse::none;
  }

  std::vector<Path> include_folders(const std::string& op) const {
    std::vector<Path> folders;
    if (const OpBuilder* builder = survey_.selected.registry.find(op))
      for (const auto& folder : builder->spec().include_dirs)
        folders.emplace_back(folder.value == "." ? "" : folder.value);
    return folders;
  }

  const Survey& survey_;
  const SourceDigests& digests_;
  FileSystem& files_;
  FactStore& facts_;
  const Path& build_dir_;
  Lists lists_;
  TorchIncludes includes_;
  TorchReaders found_;
};

}  // namespace

TorchReaders find_torch_readers(const Survey& survey, const ArchPlan& archs, const SourceDigests& digests,
                                Session& session) {
  return TorchReaderSearch(survey, digests, session).run(archs);
}

}  // namespace dsbuild
