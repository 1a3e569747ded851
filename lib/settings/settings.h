// What the user asked for: command line, environment and config file, merged once.
// Nothing after load_settings reads an argument or a variable.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "arch/arch_list.h"
#include "base/result.h"
#include "settings/policy_settings.h"
#include "sys/digest_memo.h"
#include "sys/file_system.h"
#include "sys/process.h"
#include "sys/signing_key.h"

namespace dsbuild {

// The options as the command line gave them, by their names in the table (options.h); "yes" for a flag.
// Filled by apps/dsbuild (CLI11), so that settings stays free of a parser; values are checked by
// load_settings.
struct Arguments {
  std::map<std::string, std::string> values;
  int verbosity = 0;               // -v +1 each, -q -1
  bool reads_project_file = true;  // dsbuild.yaml of the current folder or one above (project_file.h)

  std::string& operator[](const std::string& option) { return values[option]; }
  std::optional<std::string> find(const std::string& option) const {
    const auto found = values.find(option);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  }
};

inline constexpr const char* k_arch_variable = "TORCH_CUDA_ARCH_LIST";

enum class Precompile { automatic, on, off };
// How CUDA files are compiled: by slices, edges for nvcc's own steps (lib/plan/slice_edges.h), or each by one
// nvcc command. automatic: by slices if their output is that of nvcc, else by nvcc. slices: an error instead
// of nvcc.
enum class CudaBackend { automatic, slices, nvcc };
enum class ColorMode { automatic, always, never };
// xpu: ops of DeepSpeed for it are refused, all others are built as without it.
enum class AcceleratorKind { automatic, cuda, cpu, xpu };

// `--shard 3/8` does a share of the compiles, `--shard merge` makes the bundle.
struct ShardChoice {
  int number = 0, of = 0;  // 0: no share
  bool merges = false;
  bool is_share() const { return number > 0; }
  bool is_given() const { return merges || is_share(); }
  std::string text() const;  // "3/8", "merge"; "" for neither
  bool operator==(const ShardChoice&) const = default;
};

// One `--ops` word or DS_BUILD_* variable.
enum class Switch { unset, on, off };

// An op of a workload (workload.h).
struct WorkloadOp {
  ArchSet archs;       // those that the program loaded it for; empty: as the others, or host code
  std::string origin;  // "workload.yaml:5:5"
  bool operator==(const WorkloadOp&) const = default;
};

// The start of --remote-tools, before the toolkit's folder on the workers.
inline constexpr const char* k_worker_tools = "worker:";

// Whether idle cores of this machine run tools that wait or are late at the service.
enum class RemoteLocal { automatic, never };

// --max-op-size: a limit for each op's library, and different ones for single ops.
struct OpSizes {
  unsigned long long each = 0;  // bytes; 0: any
  std::map<std::string, unsigned long long> of;
  bool operator==(const OpSizes&) const = default;
};

// Whether results are uploaded to the shared cache. automatic: if there are credentials, or it is a folder.
enum class RemoteUpload { automatic, never, always };

struct Selection {
  // --ops (or `ops:` of a config file): "all" and/or names; `-name` leaves one out. @FILE: the ops of a
  // workload, for their own archs.
  bool ops_given = false;
  bool all = false;
  std::vector<std::string> names;    // sorted, unique
  std::vector<std::string> without;  // sorted, unique
  std::string origin = "default";
  std::vector<std::string> kept;               // sorted; of the bundle, by --add (lib/driver/kept_ops.h)
  std::optional<std::string> workload_file;    // of @FILE
  std::map<std::string, WorkloadOp> workload;  // its ops of the pack that is built
  // DS_BUILD_OPS and every DS_BUILD_<NAME> in the environment but DS_BUILD_STRING, by variable.
  Switch build_ops = Switch::unset;
  std::map<std::string, Switch> variables;

  // The part of `requested` for which an op is built.
  ArchSet archs_of(const std::string& op, const ArchSet& requested) const;
  // Where an op is named: "--ops", "workload.yaml:5:5".
  const std::string& origin_of(const std::string& op) const;
  bool operator==(const Selection&) const = default;
};

struct Settings {
  Selection selection;
  Setting<std::string> pack{"native"};  // a name, or a folder when it holds a '/' or exists
  Setting<std::string> source;          // "" : the pack's own source root
  Setting<ArchRequest> arch;            // is_default when nothing was asked for
  Setting<std::string> arch_text;       // as written
  Setting<Path> out{"dsbuild-out"};
  Setting<Path> build_dir{".dsbuild"};
  Setting<Path> cuda_home, rocm_home, oneapi_home;  // of the options alone; "" if not given
  Setting<int> jobs;                                // 0: from cores and memory
  Setting<unsigned long long> memory;               // bytes that jobs may use together; 0: what is available
  Setting<int> nvcc_threads{1};                     // DS_NVCC_THREADS; 1 unless set
  Setting<bool> keep_going, strict, json, allow_disjoint_archs, drop_unsupported_archs, offline;
  Setting<bool> paranoid;              // each file is read for its digest, whatever its identity says
  Setting<bool> add;                   // the ops of the bundle at `out` are wanted too
  Setting<bool> debug;                 // -g for host code, -lineinfo for device code
  Setting<bool> annotations;           // GITHUB_ACTIONS, exactly "true": messages as its annotations too
  Setting<ColorMode> color;            // docs/reference/cli.md, "Colours and width"
  Setting<std::string> compress_mode;  // "" : the toolkit's default; else default|size|speed|balance|none
  Setting<Precompile> precompile;      // torch/extension.h, for all files that share it
  Setting<CudaBackend> backend;
  // --backend cuda,hip: whose GPUs are built for; empty: what the list of archs says (arch_requests.h).
  Setting<std::vector<const Vendor*>> devices;
  Setting<bool> verify_against_nvcc;     // compile CUDA files by nvcc too, and compare
  Setting<bool> timings;                 // show where the time of the build went
  Setting<AcceleratorKind> accelerator;  // DS_ACCELERATOR
  Setting<bool> ptxas_info;              // what each kernel takes of a GPU; DS_DEBUG_CUDA_BUILD, exactly "1"
  Setting<std::string> build_string;     // DS_BUILD_STRING: recorded in the manifest
  Setting<std::string> builder_id{"urn:dsbuild:local"}, invocation;  // of the provenance, URIs; "": none
  Setting<std::string> python{"python3"};                            // a path, or a name on PATH
  Setting<std::string> cpu_baseline;  // a name of lib/arch/cpu_level.h; "" : the default
  Setting<bool> skip_cuda_check;      // DS_SKIP_CUDA_CHECK, exactly "1"
  Setting<std::vector<std::string>> nvcc_prepend_flags,
      nvcc_append_flags;                              // NVCC_*_FLAGS, split as nvcc does (blanks)
  Setting<std::vector<std::string>> cflags, ldflags;  // CFLAGS, LDFLAGS, split as a shell does
  Setting<std::vector<std::string>>
      pass_environment;           // names, "SITE_*" too, of variables that tools get as well
  Setting<int> lock_timeout{-1};  // seconds; -1: wait for ever
  Setting<Path> bundle;           // DSBUILD_BUNDLE: where load looks first; "": nowhere
  Setting<bool> jit{true};        // DSBUILD_JIT: load may build
  Setting<Path> record;           // DSBUILD_RECORD: a folder where load notes what was loaded; "": nowhere
  int verbosity = 0;
  // ${XDG_CACHE_HOME:-~/.cache}/dsbuild. With neither, a path that nobody can make: an empty one would make
  // tools and facts be taken from the current folder.
  Path cache_dir;
  // Of a bundle, by options or a policy (lib/driver/requested_gate.h, lib/policy/policy.h).
  Setting<std::string> gpus;             // "H100,10.0"; "": none is asked about
  Setting<unsigned long long> max_size;  // bytes; 0: any
  Setting<OpSizes> max_op_size;
  BundlePolicy policy;
  // Results of slices, for all build folders (lib/cache/tiered_cache.h).
  Setting<Path> local_cache;  // cache_dir / "store" unless given; see trusted_keys
  Setting<unsigned long long> local_cache_size{10ULL << 30};  // bytes; 0: no local cache
  // A cache that machines share (lib/remote/open_remote.h); "": none.
  Setting<std::string> remote, remote_scope;
  Setting<RemoteUpload> remote_upload;
  Setting<int> remote_ttl;                        // days; 0: none
  Setting<std::string> remote_credential_helper;  // a program: a path, or a name on PATH; "": none
  Setting<Path> remote_credentials, remote_ca, remote_client_cert, remote_client_key;  // files; "": none
  // Where hermetic tools run (remote_execution/open_execution.h); "": here.
  Setting<std::string> remote_exec;
  Setting<int> remote_jobs{64};                 // tools at once there
  Setting<std::string> remote_tools{"upload"};  // or "worker:/usr/local/cuda"
  Setting<RemoteLocal> remote_local;
  Setting<std::vector<std::string>> remote_platform;  // "OSFamily=linux"
  // Of a build that several machines share out among them (lib/driver/build_shard.h).
  Setting<ShardChoice> shard;
  Setting<Path> shard_plan;                        // a file; "": each machine makes the cut for itself
  Setting<Path> metrics;                           // a file for dashboards (lib/report/metrics.h); "": none
  Setting<Path> remote_sign;                       // a private key; "": nothing is signed
  Setting<Path> sign_key;                          // likewise, that signs the bundle
  Setting<std::vector<std::string>> remote_trust;  // files of public keys
  // The keys of both: where there are any, entries of shared caches count that one of them has signed, and
  // results and facts lie in folders of these keys.
  std::vector<PublicKey> trusted_keys;
  Path facts_file;  // cache_dir / "facts.json", or one of the trusted keys
  Path data_dir;    // holds ops/, kernels/, configs/, scripts/ (share/dsbuild or the checkout)
  std::vector<Warning> warnings;
  std::map<std::string, std::string> given;  // options of the command line, for given_options.h
  // The environment as it was: CXX, CUDA_HOME and others that say where things are, for an op may name any
  // of them (`root:` of a requirement).
  Environment variables;

  Trust trust() const { return paranoid.value ? Trust::nothing : Trust::identities; }

  std::string variable(const std::string& name) const {  // "" if it is not set
    const auto found = variables.find(name);
    return found == variables.end() ? "" : found->second;
  }
  bool operator==(const Settings&) const = default;
};

// Precedence: command line > environment > --config (a file or the name of a preset in data_dir/configs) >
// the project's dsbuild.yaml > default. Variables read: TORCH_CUDA_ARCH_LIST, DS_BUILD_*, MAX_JOBS, NO_COLOR,
// DS_DEBUG_CUDA_BUILD, DS_SKIP_CUDA_CHECK, GITHUB_ACTIONS, DS_NVCC_THREADS, DS_BUILD_STRING, DS_ACCELERATOR,
// NVCC_PREPEND_FLAGS, NVCC_APPEND_FLAGS, CFLAGS, LDFLAGS, DSBUILD_BACKEND, DSBUILD_CACHE_DIR,
// DSBUILD_CACHE_SIZE, DSBUILD_PARANOID, DSBUILD_REMOTE*, DSBUILD_SHARD*, DSBUILD_METRICS, XDG_CACHE_HOME,
// HOME. DS_BUILD_*: 1/0, true/false, on/off, yes/no (any case), any integer; empty = unset; else exit 2
// `bad_switch` naming the variable. A set but blank TORCH_CUDA_ARCH_LIST counts as unset with a
// warning; `--arch ''` is exit 2 `empty_arch_list`. DS_ACCELERATOR: cuda, cpu, xpu; npu mps hpu mlu sdaa supa
// klxpu exit 3 `accelerator_not_built`; others exit 2. MAX_JOBS that is not a positive integer: exit 2.
// NVCC_*_FLAGS that name an arch (-gencode, -arch, -code, long forms and `--gpu-*`): exit 2
// `arch_in_nvcc_flags`. Config keys: ops arch pack source out build_dir cuda_home rocm_home oneapi_home jobs
// memory keep_going strict json color compress_mode pch backend lock_timeout offline paranoid
// drop_unsupported_archs allow_disjoint_archs python cpu_baseline debug verify_against_nvcc timings cache_dir
// cache_size pass_environment builder_id remote remote_scope remote_upload remote_ttl remote_credentials
// remote_credential_helper remote_ca remote_client_cert remote_client_key remote_sign remote_trust metrics
// remote_exec remote_jobs remote_tools remote_local remote_platform shard shard_plan; unknown ones are exit 2
// with "did you mean". `--ops @FILE`: the errors of take_workload (workload.h); its archs count where neither
// --arch nor TORCH_CUDA_ARCH_LIST is given.
Result<Settings> load_settings(const Arguments& arguments, const Environment& environment,
                               const FileReader& files, const Path& data_dir);

// Says what is wrong with their values, whatever the environment, files and the disk are.
Result<void> check_arguments(const Arguments& arguments);

// The value of GITHUB_ACTIONS, for errors that come before there are settings.
Setting<bool> load_annotations(const Environment& environment);
// What --color and the environment say, for the same; a wrong word counts as none.
Setting<ColorMode> load_color(const std::optional<std::string>& argument, const Environment& environment);

// Pure: "" where a text may stand in `pass_environment`, else the reason, worded to follow "'<text>' ".
std::string variable_name_refusal(const std::string& text);

// A URL to be shown: "https://***@host/path". All up to the last '@' counts as a user and a password, for the
// latter may hold any letter where somebody forgot to encode it.
std::string without_password(const std::string& url);

// A setting as `plan -v` shows it.
struct SettingRow {
  std::string name, value, origin;
};
// "1", "off", "Yes", "-3" … -> Switch; nullopt when it is none of them. "" -> unset.
std::optional<Switch> parse_switch(std::string_view text);

}  // namespace dsbuild
