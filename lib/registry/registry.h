// All ops of a pack, one OpBuilder each.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/yaml.h"
#include "registry/backend_kinds.h"
#include "registry/license_files.h"
#include "registry/op_spec.h"
#include "settings/settings.h"
#include "sys/system.h"

namespace dsbuild {

// An op of a pack, made from its op.yaml. Its functions have the names of DeepSpeed's OpBuilder. Lists have
// the entries whose `when` holds in `context`, in the spec's order.
class OpBuilder {
 public:
  explicit OpBuilder(OpSpec spec) : spec_(std::move(spec)) {}
  const OpSpec& spec() const { return spec_; }
  const std::string& name() const { return spec_.name; }
  const std::string& absolute_name() const { return spec_.module; }
  std::vector<SourceSpec> sources(const WhenContext& context) const;
  // Relative to the source root. `language`: k_for_cxx or k_for_nvcc, the sources that search them; "": both.
  std::vector<std::string> include_paths(const WhenContext& context, const std::string& language = "") const;
  std::vector<std::string> cxx_args(const SourceSpec& source,
                                    const WhenContext& context) const;  // -std, flags, -D
  std::vector<std::string> nvcc_args(const SourceSpec& source,
                                     const WhenContext& context) const;  // likewise, no gencode
  std::vector<std::string> hip_args(const SourceSpec& source, const WhenContext& context) const;
  std::vector<std::string> sycl_args(const SourceSpec& source, const WhenContext& context) const;
  // Whether the source is compiled for the CPU level of `context`.
  bool uses_cpu_level(const SourceSpec& source, const WhenContext& context) const;
  std::vector<std::string> extra_ldflags(const WhenContext& context) const;  // flags.link, then -l<library>
  // "bf16: off (7.5 in the list)": features of the spec whose define does not hold, by name.
  std::vector<std::string> features_off(const WhenContext& context) const;
  std::vector<std::string> needs(const WhenContext& context) const;
  std::vector<std::string> exports(const WhenContext& context) const;
  std::vector<Requirement> requirements(const WhenContext& context) const;
  FilteredArchs filter_archs(const ArchSet& requested) const;
  bool operator==(const OpBuilder&) const = default;

 private:
  OpSpec spec_;
};

// An op.yaml whose `when` is false here, so there is no such op.
struct AbsentOp {
  std::string name, build_var;
  std::string not_for, is_for;  // "torch 2.11.0", "torch <2.0"
  bool operator==(const AbsentOp&) const = default;
};

struct Registry {
  std::string pack;                             // "native"
  Path spec_root;                               // holds <op>/op.yaml, or op.yaml itself
  Path source_root;                             // absolute; sources and include_dirs are relative to it
  Version source_version;                       // for `when: {source: …}`; empty if the pack has none
  std::string license;                          // of the ops, an SPDX expression; "" if pack.yaml names none
  LicenseFiles license_files{};                 // those of the sources, else those in the pack's own folder
  std::map<std::string, std::string> urls{};    // as in Pack
  std::vector<std::string> pass_environment{};  // as in Pack
  std::string accelerator;                      // for `when: {accelerator: …}`; of offer_ops
  std::vector<OpBuilder> ops;                   // sorted by name
  std::vector<AbsentOp> absent;
  // Each set variable that belongs to no op here -> the other packs below data_dir with an op for it.
  std::map<std::string, std::vector<std::string>> other_packs;
  // Each word of --ops that is no op here -> an explanation: "Pack 'deepspeed' has it: --pack deepspeed --ops
  // …."
  std::map<std::string, std::string> elsewhere;
  std::vector<Warning> warnings;
  const OpBuilder* find(const std::string& name) const;
  const AbsentOp* find_absent(const std::string& name_or_variable) const;
  std::vector<std::string> names() const;
  bool operator==(const Registry&) const = default;
};

// The folders and properties of a pack, from --pack and its pack.yaml.
struct Pack {
  std::string name;
  Path spec_root;    // holds <op>/op.yaml, or op.yaml itself
  Path source_root;  // absolute
  Version version;
  std::string shown;      // spec_root in messages
  std::string license{};  // SPDX expression, or ""
  LicenseFiles license_files{};
  std::map<std::string, std::string> urls{};  // of the project, by label: "Homepage"
  // Names, "SITE_*" too, of variables that its compilers read (System::tools).
  std::vector<std::string> pass_environment{};
  std::string
      package_root{};   // where Python packages lie below the source root, for `build --inplace`; "": there
  bool hipify = false;  // translate all sources of its ops for HIP
  YamlNode
      defaults{};  // what its ops say that say nothing else, as op.yaml would; null if pack.yaml has none
  std::vector<YamlNode> ops{};  // ops in pack.yaml, each like an op.yaml
};
// The names of the packs below data_dir/ops.
std::vector<std::string> known_packs(const FileReader& files, const Path& data_dir);

// The values of --pack and --ops for a folder: "mypack" and "all"; for the folder of one op, its pack and its
// name. nullopt: no op.yaml.
struct NamedOps {
  std::string pack, ops;
};
std::optional<NamedOps> ops_in_folder(const std::string& name, const FileReader& files);

// Pack: a name below data_dir/ops, or a folder, which need not have ops yet. pack.yaml is optional: {name,
// source_root | package, package_root, version | version_file, license, urls, hipify, pass_environment,
// defaults, ops}. Errors, exit 2: `unknown_pack`, `bad_spec` (of pack.yaml), `missing_source` (the source
// root is absent, or has no version); exit 3: `no_package` (a pack of an installed Python package, which is
// not installed).
Result<Pack> load_pack(const Settings& settings, const System& system);

// Pure: "" if an op may have this name, else the reason, worded to follow "'<name>' ".
std::string op_name_refusal(const std::string& name);

// Reads pack.yaml, with the ops in it, and every <op>/op.yaml. Ops of other versions of the sources are
// absent; of an op name there may be one for each accelerator. Errors: those of load_pack; exit 2, with
// file:line:column: `bad_spec` (unknown key with "did you mean", wrong type, duplicate op name naming both
// files, path outside the source root, unsafe flag, empty glob, …), `missing_source` (names the source and
// the searched folder), `unknown_pack`.
Result<Registry> load_registry(const Settings& settings, const System& system);

// Pure: keeps the ops for this torch and accelerator; the others become absent.
Registry offer_ops(Registry registry, const Version& torch, const std::string& accelerator);

// Pure: one op.yaml's text. Globs and existence of sources need `files` and `source_root`.
Result<OpSpec> parse_op_spec(std::string_view text, const Path& file, const FileReader& files,
                             const Path& source_root);

// The full-match allow-list for flags in specs (docs/reference/op_yaml.md): "" if allowed, else the reason.
enum class FlagKind { cxx, nvcc, hip, sycl, link };
std::string flag_refusal(FlagKind kind, const std::string& flag);
// Whether it is an option of nvcc whose value may be the next word. [-Xptxas, -v] is -Xptxas=-v.
bool nvcc_option_takes_value(std::string_view option);
// Whether it is a flag of nvcc for parallel work (--threads=4), which dsbuild ignores.
bool is_job_control(const std::string& nvcc_flag);
// -rdc=true: device code may call that of the op's other sources, and a device link joins all of it.
bool is_for_device_link(const std::string& nvcc_flag);

// The ops that the user selected, before requirements and archs are checked.
enum class Wanted { off, by_all, by_name };
struct SelectedOp {
  std::string name;
  Wanted wanted = Wanted::off;
  std::string because;    // "--ops", "DS_BUILD_OPS", "DS_BUILD_FUSED_ADAM=0", "needed by async_io"
  std::string needed_by;  // the op that needs this one, if it would be off otherwise; else ""
  bool operator==(const SelectedOp&) const = default;
};
struct SelectedOps {
  std::vector<SelectedOp> ops;  // every op of the registry, sorted by name
  std::vector<Warning> warnings;
  bool operator==(const SelectedOps&) const = default;
};
// "no op 'fused_adm' in pack 'native' (did you mean 'fused_adam'?)", exit 2 `unknown_op`; for an absent op
// exit 3 `op_not_offered`.
Error unknown_op(const std::string& name, const std::string& where, const Registry& registry);

// Pure. --ops over DS_BUILD_<OP> over DS_BUILD_OPS, except that DS_BUILD_<OP>=0 also holds under
// `--ops all` (a warning says so; an explicit name beats it). With `cpu_only` (DS_ACCELERATOR=cpu, or
// no usable toolkit) `all` means the CPU ops. An op that a selected op `needs` is selected too.
// Errors: those of unknown_op; for a DS_BUILD_ variable that is on and belongs to no op exit 3
// `op_not_offered` where it is an absent one's, `other_pack` where another pack has it, else exit 2
// `unknown_build_var` (nearest). Off: a warning for the last alone.
Result<SelectedOps> select_ops(const Settings& settings, const Registry& registry, bool cpu_only);
// Errors, where no op is selected: exit 2 `nothing_selected` with the two ways to select; exit 3
// `nothing_to_build` where `all` leaves no CPU op.
Result<void> check_any_selected(const Registry& registry, bool cpu_only, const SelectedOps& selected);

}  // namespace dsbuild
