#include "nvcc/nvcc_comparison.h"

#include "base/build_layout.h"
#include "base/text.h"
#include "nvcc/run_step.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_object = ".o";

class Comparison {
 public:
  Comparison(const NvccComparison& request, Engine& engine)
      : request_(request),
        engine_(engine),
        files_(engine.files()),
        kept_(request.objects.whole.parent_path()),
        unit_(without_end(request.objects.images)),
        again_(kept_ / "again" / Path(unit_).filename()) {}

  Result<std::string> run() {
    DSBUILD_TRY(nvccs, nvcc_module_id());
    DSBUILD_TRY(ours, files_.read_file(unit_ + k_module_id_end));
    if (objects_differ_by(request_.objects, {trim(nvccs), trim(ours)}, files_).empty())
      return remove_what_was_kept();
    const auto folder = files_.real_path(".");
    DSBUILD_CHECK(make_again(nvccs, folder ? folder->string() : k_folder_in_objects));
    if (std::string difference = objects_differ_by(again(request_.objects.whole), {}, files_);
        !difference.empty())
      return difference;
    DSBUILD_CHECK(make_again(ours, k_folder_in_objects));
    DSBUILD_TRY(stale, what_is_stale());
    if (!stale.empty()) return stale + " is not what the same steps make now";
    return remove_what_was_kept();
  }

 private:
  static std::string without_end(const Path& object) {
    const std::string name = object.string();
    return name.substr(0, name.size() - k_object.size());
  }

  ObjectFiles again(const Path& whole) const {
    return {whole, again_.string() + ".o", again_.string() + ".host.o"};
  }

  Result<std::string> nvcc_module_id() const {
    DSBUILD_TRY(names, files_.list(kept_));
    for (const std::string& name : names)
      if (name.ends_with(k_module_id_end)) return files_.read_file(kept_ / name);
    return fail(Exit::failed, "no_file", kept_.string(), "nvcc kept no module id", "Build again.");
  }

  // Every step, in a folder of its own, where nothing is there to be taken over; nor is it from the store.
  Result<void> make_again(const std::string& module_id, const std::string& folder) {
    DSBUILD_CHECK(files_.remove_all(again_.parent_path()));
    DSBUILD_CHECK(files_.make_directories(again_.parent_path()));
    DSBUILD_TRY(arch_list, files_.read_file(unit_ + k_arch_list_end));
    DSBUILD_CHECK(files_.write_file(again_.string() + k_arch_list_end, arch_list));
    DSBUILD_CHECK(files_.write_file(again_.string() + k_module_id_end, module_id));
    DSBUILD_CHECK(files_.write_file(again_.string() + k_folder_in_objects_end, folder));
    for (const std::string& step_file : request_.step_files)
      DSBUILD_CHECK(run_again(step_file));
    return {};
  }

  Result<void> run_again(const std::string& step_file) {
    DSBUILD_TRY(text, files_.read_file(step_file));
    const StepFile step = parse_step_file(text);
    const std::string output = again_.string() + step.outputs.front();
    ActionRun action({"slice", k_nvcc_id_file, output, step_file, "--", request_.source}, engine_.machine(),
                     ActionRun::Cache::unused);
    Engine engine = engine_.of(action);
    DSBUILD_TRY(end, run_slice_step({step_file, output, request_.source, {}}, engine));
    if (end.code == 0) return {};
    return fail(Exit::failed, "edge_failed", output, "the step " + step.part + " fails when it is run again",
                "Build again.");
  }

  // The object that is there and not the same as the one just made, or "".
  Result<std::string> what_is_stale() const {
    const ObjectFiles made = again(request_.objects.whole);
    for (const auto& [there, now] :
         {std::pair(request_.objects.images, made.images), std::pair(request_.objects.host, made.host)}) {
      DSBUILD_TRY(old_bytes, files_.read_file(there));
      DSBUILD_TRY(new_bytes, files_.read_file(now));
      if (old_bytes != new_bytes) return there.string();
    }
    return "";
  }

  // All but nvcc's object with its record and its module id, which a later comparison needs. The value says:
  // no difference.
  Result<std::string> remove_what_was_kept() {
    DSBUILD_TRY(names, files_.list(kept_));
    for (const std::string& name : names)
      if (name != request_.objects.whole.filename() &&
          name != record_file(request_.objects.whole.filename()) && !name.ends_with(k_module_id_end))
        DSBUILD_CHECK(files_.remove_all(kept_ / name));
    return "";
  }

  const NvccComparison& request_;
  Engine& engine_;
  FileSystem& files_;
  const Path kept_;
  const std::string unit_;  // of the objects that are there
  const Path again_;        // the unit that is made to compare with
};

}  // namespace

Result<std::string> compare_with_nvcc(const NvccComparison& request, Engine& engine) {
  return Comparison(request, engine).run();
}

}  // namespace dsbuild
