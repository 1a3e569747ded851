// What libraries need of the machine and of torch.
#include <algorithm>

#include "binary/elf_library.h"
#include "bundle/describe.h"
#include "policy/policy.h"

namespace dsbuild {
namespace {

// Of each library that needs it, the version of a name.
void judge_version(const Setting<Version>& most, const char* name, const char* called, const Path& bundle,
                   const std::vector<LibraryNeeds>& needs, Verdict& verdict) {
  if (most.is_default()) return;
  for (const LibraryNeeds& library : needs) {
    const auto needed = library.runtime.versions.find(name);
    if (needed == library.runtime.versions.end()) continue;
    const auto version = parse_version(needed->second);
    if (version && *version <= most.value) continue;
    verdict.failures.push_back(make_error(Exit::failed, "abi_not_allowed", bundle.string(),
                                          library.file + " needs " + called + " " + needed->second +
                                              ", and " + most.origin + " allows " + called + " " +
                                              most.value.text(),
                                          "Build it where that is older: docs/guides/docker.md."));
  }
}

// In what C++ compilers make of names: of a namespace, its length first. Ops of the stable ABI name none of
// these: torch gives it as C functions (aoti_torch_…).
bool names_torchs_classes(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return false;
  return std::ranges::any_of(std::initializer_list<const char*>{"2at", "3c10", "5torch", "6caffe2"},
                             [&](const char* name) {
                               return symbol.find("N" + std::string(name)) != std::string::npos ||
                                      symbol.find("NK" + std::string(name)) != std::string::npos;
                             });
}

// "": it needs none that is not in the stable ABI.
Result<std::string> unstable_symbol(const Path& library, const FileReader& files) {
  DSBUILD_TRY(source, files.open(library));
  DSBUILD_TRY(read, ElfLibrary::read(ByteRange(*source), library.string()));
  DSBUILD_TRY(undefined, read.undefined_symbols());
  const auto found = std::ranges::find_if(
      undefined, [](const UndefinedSymbol& symbol) { return names_torchs_classes(symbol.name); });
  return found == undefined.end() ? "" : found->name;
}

Error other_torch(const JudgedBundle& bundle, const std::string& what, const std::string& fix) {
  return make_error(Exit::failed, "abi_not_allowed", bundle.path.string(), what, fix);
}

Result<void> judge_stable_abi(const BundlePolicy& policy, const JudgedBundle& bundle, Verdict& verdict) {
  for (const ManifestOp& op : bundle.manifest.ops) {
    DSBUILD_TRY(symbol, unstable_symbol(bundle.path / op.file, bundle.files));
    if (symbol.empty()) continue;
    verdict.failures.push_back(other_torch(bundle,
                                           op.file + " needs " + printable(symbol) +
                                               ", which is not in torch's stable ABI; " +
                                               policy.torch_abi.origin + " asks for that",
                                           "Write the op against torch/csrc/stable, or name the torch that "
                                           "it is for: torch_abi: \"==2.11.*\"."));
  }
  return {};
}

void judge_torch_version(const BundlePolicy& policy, const JudgedBundle& bundle, Verdict& verdict) {
  const ManifestTorch& torch = *bundle.manifest.torch;
  const auto range = parse_version_range(policy.torch_abi.value, policy.torch_abi.origin);
  const auto version = parse_release(torch.version);
  if (range && version && range->contains(*version)) return;
  verdict.failures.push_back(other_torch(bundle,
                                         "its ops are for torch " + printable(torch.version) + ", and " +
                                             policy.torch_abi.origin + " asks for " +
                                             printable(policy.torch_abi.value),
                                         "Build them with that torch: --python names its interpreter."));
}

void judge_cxx11_abi(const BundlePolicy& policy, const JudgedBundle& bundle, Verdict& verdict) {
  const bool asked = policy.cxx11_abi.value.value_or(true), has = bundle.manifest.torch->cxx11_abi;
  if (policy.cxx11_abi.is_default() || asked == has) return;
  const auto word = [](bool is_on) { return std::string(is_on ? "on" : "off"); };
  verdict.failures.push_back(
      other_torch(bundle,
                  "its ops are for a torch with the C++11 ABI " + word(has) + ", and " +
                      policy.cxx11_abi.origin + " asks for " + word(asked),
                  "Build them with a torch of that ABI: --python names its interpreter."));
}

}  // namespace

Result<std::vector<LibraryNeeds>> read_needs(const JudgedBundle& bundle) {
  std::vector<LibraryNeeds> all;
  for (const ManifestOp& op : bundle.manifest.ops) {
    const Path library = bundle.path / op.file;
    DSBUILD_TRY(bytes, bundle.files.read_file(library));
    DSBUILD_TRY(binary, read_binary(as_bytes_of(bytes), library.string()));
    all.push_back({op.file, runtime_of(binary)});
  }
  return all;
}

void judge_needs(const BundlePolicy& policy, const Path& bundle, const std::vector<LibraryNeeds>& needs,
                 Verdict& verdict) {
  judge_version(policy.max_glibc, "GLIBC", "glibc", bundle, needs, verdict);
  judge_version(policy.max_glibcxx, "GLIBCXX", "GLIBCXX", bundle, needs, verdict);
}

Result<void> judge_torch(const BundlePolicy& policy, const JudgedBundle& bundle, Verdict& verdict) {
  if (policy.torch_abi.value == k_stable_abi) return judge_stable_abi(policy, bundle, verdict);
  if (!bundle.manifest.torch) return {};
  judge_cxx11_abi(policy, bundle, verdict);
  if (!policy.torch_abi.is_default()) judge_torch_version(policy, bundle, verdict);
  return {};
}

}  // namespace dsbuild
