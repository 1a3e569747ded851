// Renders values as text and JSON. Pure, except make_report.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arch/coverage.h"
#include "base/json.h"
#include "binary/kernels.h"
#include "bundle/bundle.h"
#include "bundle/verify.h"
#include "cache/tiered_cache.h"
#include "driver/build_bundle.h"
#include "driver/cache_transfer.h"
#include "driver/inventory_diff.h"
#include "driver/requested_gate.h"
#include "load/load_op.h"
#include "load/trial_load.h"
#include "package/installed.h"
#include "package/package.h"
#include "plan/forecast.h"
#include "project/new_op.h"
#include "project/project.h"
#include "provenance/bundle_signature.h"
#include "requirements/torch.h"
#include "settings/workload.h"
#include "wrapper/call_log.h"

namespace dsbuild {

// The repository that a CI pipeline has checked out.
struct Repository {
  Path root;     // absolute; empty: unknown
  Path current;  // the current folder, absolute
};

struct Style {
  bool color = false;
  size_t columns = 0;     // of the terminal; 0: lines are not wrapped
  bool annotate = false;  // adds an annotation of GitHub Actions after each message
  Repository repository{};
  bool verbose = false;
  std::string paint(const char* ansi_code, const std::string& text) const;
  std::string good(const std::string& text) const;  // green
  std::string bad(const std::string& text) const;   // red
  std::string warn(const std::string& text) const;  // yellow
  std::string bold(const std::string& text) const;
};

// "error[unknown_arch]: --arch: unknown arch 'sm_999'\n  fix: …\n"
std::string render_error(const Error& error, const Style& style);
std::string render_warning(const Warning& warning, const Style& style);
// Changes the text so that GitHub's runner finds no command in it: "::error::x" at the start of a line,
// "##[error]" anywhere. All text of messages goes through this function; annotations are added afterwards.
std::string without_commands(std::string_view text);
// "::error file=op.yaml,line=3,col=1,title=dsbuild bad_key::what\n"; `level` is error or warning.
std::string render_annotation(const std::string& level, const Message& message, const Repository& repository);
// {"schema":1,"error":{"code","where","what","fix"}}
std::string render_error_json(const Error& error);

// The output of plan and build.
struct PlanView {
  const Settings& settings;
  const ArchPlan& archs;
  const BuildPlan& build;
  const std::vector<SlicedCommand>& sliced;  // the sliced commands of `build`
  const Registry& registry;
  const RequirementReport& requirements;
  ToolkitSet toolkits;
  const HostCompiler* cxx = nullptr;
  std::vector<std::string> removes;  // ops of the bundle at --out that this build would remove
  std::optional<Forecast> forecast;  // for plan alone
  std::vector<Warning> warnings;
};
PlanView view_of(const Plan& plan, std::vector<std::string> removes);
std::string render_plan_table(const PlanView& view, const Style& style);
std::string render_plan_json(const PlanView& view, bool as_event = false);  // one line; build's first event
// For builds of other projects: `export TORCH_CUDA_ARCH_LIST="7.0;8.0+PTX"`, with the archs that dsbuild
// would build.
std::string render_plan_env(const PlanView& view);
// One line per CUDA op: name, then its gencode flags.
std::string render_plan_flags(const PlanView& view);
std::string render_settings(const std::vector<SettingRow>& rows, const Style& style);

// One line of `build --json`.
std::string render_edge_event_json(const EdgeEvent& event);

std::string render_edge_failure(const EdgeFailure& failure, const Style& style);
std::string render_annotation(const EdgeFailure& failure, const Repository& repository);
// A tool's message, unchanged. With colours and annotations if the style has them; names the archs if not all
// had the message.
std::string render_diagnostic(const ToolDiagnostic& told, const Style& style);
std::string render_annotation(const ToolDiagnostic& told, const Repository& repository);
std::string render_diagnostic_json(const ToolDiagnostic& told);  // {"event":"diagnostic",…}
// The last line of a build that did not finish: "failed: gamma; built: alpha, host".
std::string render_unfinished(const std::vector<std::string>& failed, const std::vector<std::string>& built);
// {"event":"result",…,"error":…} for a build that ends with an error.
std::string render_unbuilt_json(const Error& error, const std::vector<EdgeFailure>& failures,
                                const UnfinishedRun& left);

// A line for each kernel and arch; "" if there are none.
std::string render_kernels(const std::vector<OpKernels>& kernels, const Style& style);
std::string render_build_outcome(const BuildOutcome& outcome, const Style& style);
std::string render_executed(const ExecutorUses& uses);  // the counts of tools that ran on other machines
// For a shard: the first two before its run, the others after it.
std::string render_shard(const ShardShare& share);
std::string render_shard_json(const ShardShare& share);  // {"event":"shard",…}, one line
std::string render_shard_outcome(const ShardOutcome& outcome);
std::string render_shard_outcome_json(const ShardOutcome& outcome);  // {"event":"result",…}, one line
// `compiles`: how many compiles the merge itself ran.
std::string render_merge(const MergeCounts& merge, int compiles);
Json merge_json(const MergeCounts& merge, int compiles);
std::string render_shared(const MirrorUses& uses);                   // one line; "" if there were no requests
std::string render_build_outcome_json(const BuildOutcome& outcome);  // {"event":"result",…}, one line

// The size of each kernel of a file, by arch. A kernel that is in several modules counts once for each.
class KernelTable {
 public:
  struct Row {
    bool is_entry = false;                     // false: a __device__ function
    std::map<Target, uint64_t> bytes_by_arch;  // of machine code
    uint64_t bytes() const;
  };
  void add(const ImageKernels& image);
  const std::map<std::string, Row>& rows() const { return rows_; }  // by the kernel's mangled name
  std::vector<std::pair<std::string, Row>> largest_first() const;

 private:
  std::map<std::string, Row> rows_;
};

// The output of `build --timings`. JSON: one line {"event":"timings",…} before the result.
std::string render_timings(const Timings& timings, const Style& style);
std::string render_timings_json(const Timings& timings);

// `dsbuild diff`.
std::string render_inventory_diff(const InventoryDiff& diff, const Inventory& a, const Inventory& b,
                                  const Style& style);
std::string render_inventory_diff_json(const InventoryDiff& diff, const Inventory& a, const Inventory& b);

// The files of templates/page, from which `dsbuild page` makes one HTML file that needs no other file.
struct PageTemplate {
  std::string html, css, js;  // `html` has placeholders for css, js, title and data: {{css}}
};
Json page_json(const Inventory& inventory);
// The data as --json prints them and the page contains them: one line in which no HTML tag can begin.
std::string render_page_json(const Json& page);
std::string render_page(const Json& page, const PageTemplate& parts);

struct InspectedFile {
  std::string name;
  DeviceCode content;
  std::vector<Target> gpus;            // the GPUs of the question
  std::optional<KernelTable> kernels;  // nullopt: not requested
  uint64_t bytes = 0;                  // of the file
};
// The files as input of a gate, which judges each by itself.
Gated gated(const std::vector<InspectedFile>& files);
std::string render_inspect(std::vector<InspectedFile> files, const Style& style);
std::string render_inspect_json(const std::vector<InspectedFile>& files, const std::vector<Warning>& warnings,
                                const std::optional<Verdict>& gate);

// How each GPU runs the judged ops, one line per GPU: "GPU 9.0  3 ops: 2 natively, 1 by PTX"; and who signed
// the bundle.
std::string render_gate(const Verdict& verdict);

// "compared 3 files: the same as nvcc's". A difference is an error and not rendered here.
std::string render_comparison(size_t files);
// The result of `dsbuild verify` for a bundle.
struct VerifiedBundle {
  std::string bundle;
  std::vector<Difference> differences;
  std::optional<size_t> compared;  // how many files were compared with nvcc's; nullopt: none were to be
  bool rebuilt = false;            // a rebuild from its provenance gave the same bytes
  std::optional<std::vector<LoadTrial>> loads;  // trials to open the libraries; nullopt: not requested
  std::optional<Verdict> gate;                  // nullopt: nothing was required of the bundle
  std::vector<Warning> warnings;
  bool ok() const;  // no difference, every library could be opened, and the gate is passed
};
std::string render_verified(const VerifiedBundle& verified, const Style& style);
std::string render_verified_json(const VerifiedBundle& verified);

// What `dsbuild sign` did.
std::string render_signed(const SignedBundle& done);
std::string render_signed_json(const SignedBundle& done, const std::string& bundle);

// `dsbuild sbom` with an output file.
std::string render_sbom_written(const std::string& file, size_t components);
std::string render_sbom_json(const std::string& file, size_t components);

std::string render_wheel(const Package& package, const WrittenWheel& wheel);
std::string render_wheel_json(const Package& package, const WrittenWheel& wheel);
std::string render_installed(const Package& package, const std::string& target);
std::string render_installed_json(const Package& package, const std::string& target,
                                  const std::vector<Warning>& warnings);
// `removed`: the result of remove_packages.
std::string render_removed(const std::vector<std::string>& removed, const std::string& target);
std::string render_removed_json(const std::vector<std::string>& removed, const std::string& target);

// What `dsbuild new` wrote.
std::string render_new_op(const NewOp& made);
std::string render_new_op_json(const NewOp& made);
std::string render_new_pack(const WrittenProject& written, const std::string& next);
std::string render_new_pack_json(const WrittenProject& written, const std::string& next);

// The path of the library that `dsbuild load` found or built.
std::string render_loaded(const LoadedOp& loaded);
std::string render_loaded_json(const LoadedOp& loaded);

// What `dsbuild record` wrote. `file`: the file with it; "": nothing was written. `next`: the commands that
// build its ops.
std::string render_recorded(const Workload& workload, const std::string& file,
                            const std::vector<std::string>& next);
std::string render_recorded_json(const Workload& workload, const std::string& file, int exit_code);

// The results of nvcc calls, for the user who started the build that made them.
std::string render_calls(const std::vector<CallEnd>& calls);
std::string render_calls_json(const std::vector<CallEnd>& calls, int exit_code);

std::string render_removed_folders_json(const std::vector<Path>& folders);

// The local cache, as `dsbuild cache` shows it.
struct CacheView {
  std::string folder;
  unsigned long long limit = 0;  // bytes; 0: nothing is cached
  CacheStats stats;
};
std::string render_cache_stats(const CacheView& view, const Style& style);
std::string render_cache_stats_json(const CacheView& view);
std::string render_cache_removal(const CacheRemoval& removal, const std::string& folder);
std::string render_cache_removal_json(const CacheRemoval& removal, const std::string& folder);

// What `dsbuild cache push|pull|export|import` did.
struct TransferView {
  std::string verb;  // one of these
  CacheTransfer transfer;
  std::vector<Warning> warnings;
};
std::string render_transfer(const TransferView& view);
std::string render_transfer_json(const TransferView& view);

std::string toolkit_line(
    const Toolkit& toolkit);  // "13.0.88 in /usr/local/cuda (PATH), 7.5 to 12.1, gcc 12.2.0"
std::string render_toolkits(const Toolkits& toolkits, const Style& style);
std::string render_toolkits_json(const Toolkits& toolkits);
std::string advice_text(const ToolkitAdvice& advice);  // "have", "get 11.8", "none needed", "impossible"
std::string render_advice_json(const ToolkitAdvice& advice);

// `dsbuild report`: ds_report's table, then the environment.
struct Installation {
  std::string by;    // "bundle", "wheel", "deepspeed"
  std::string name;  // that of the wheel's package, else ""
  Path path;         // the bundle, the package's folder
  bool operator==(const Installation&) const = default;
};
// Whether this machine can build an op for the requested archs.
struct OpCompatibility {
  std::string op;
  bool selected = false;
  std::vector<Finding> findings;  // its tools first, then its requirements; met ones too
  std::string skipped;            // a further reason why it cannot be built: "no arch left: …"
  bool compatible() const;
  std::vector<std::string> reasons() const;  // why not compatible, each with its fix
};
OpCompatibility compatibility_of(const OpBuilder& builder, const Survey& survey, const PlannedOp& planned);
struct ReportRow : OpCompatibility {
  std::vector<Installation> installed_by;  // the first is the one that the row describes
  std::vector<std::string> notes;  // why packages in site-packages do not count as installed for this Python
  ArchSet archs;                   // those of the installed library
  std::vector<std::string> features_off;  // likewise, from its manifest
  // how each GPU runs the installed library; empty for an op without device code
  std::vector<Coverage> coverage;
  bool installed() const { return !installed_by.empty(); }
};
struct ReportToolkit {
  std::string brand;               // "CUDA"
  std::optional<Toolkit> toolkit;  // the one that a build would use, or the closest
  std::optional<Error> error;
  const Toolkit* usable() const { return toolkit && !error ? &*toolkit : nullptr; }
};
struct Report {
  std::vector<ReportRow> ops;
  Host host;
  std::string pack;  // "native in /usr/share/dsbuild/ops/native"
  std::optional<Ninja> ninja;
  std::optional<Error> ninja_error;
  std::vector<ReportToolkit> chosen;  // one for each vendor whose GPUs are requested
  Toolkits toolkits;
  std::optional<Error> cxx_error;
  std::vector<Gpu> gpus;  // the visible ones
  std::optional<Python> python;
  std::optional<Torch> torch;
  Path bundle_path;
  std::optional<Manifest> bundle;
  std::optional<Error> bundle_error;
  std::vector<InstalledWheel> wheels;  // of all packs
  std::optional<InstalledDeepSpeed> deepspeed;
  std::optional<Verdict> gate;  // for the bundle, else for the wheels; nullopt: nothing was required
  std::vector<Warning> warnings;
};
// Reads the bundle, and looks for Ninja, Python, the packages in its site-packages, and GPUs. If the gate
// names GPUs, they replace the visible ones. Errors: those of judge.
Result<Report> make_report(const Survey& survey, const Gate& gate, Session& session);
struct ReportOptions {
  bool hide_operator_status = false;      // show the environment only
  bool hide_errors_and_warnings = false;  // no reasons above the rows
  bool verbose = false;                   // met findings, and what compilers said
};
std::string render_report(const Report& report, const ReportOptions& options, const Style& style);
std::string render_report_json(const Report& report);
// Name and value, in the order of the report; a value may have several lines.
std::vector<std::pair<std::string, std::string>> environment_facts(const Report& report);

// `dsbuild list`: the ops of a pack.
struct ListedOp : OpCompatibility {
  std::string description;
  std::vector<std::string> backends;  // "cuda", "cpu"
  std::string limits;                 // which archs it supports: ">= 8.0"; "": all
  ArchSet archs;                      // those of the requested archs that it supports
};
struct OpList {
  std::string pack;
  ArchSet requested;
  std::vector<ListedOp> ops;
  std::vector<Warning> warnings;
};
OpList list_ops(const Survey& survey);
std::string render_op_list(const OpList& list, const Style& style);
std::string render_op_list_json(const OpList& list);

}  // namespace dsbuild
