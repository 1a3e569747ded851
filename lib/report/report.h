// Values -> text and JSON for people and machines. Pure.
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

// That of the pipeline's checkout.
struct Repository {
  Path root;     // absolute; empty: not known
  Path current;  // the current folder, absolute
};

struct Style {
  bool color = false;
  size_t columns = 0;     // of the terminal; 0: text is as wide as it is
  bool annotate = false;  // messages are followed by an annotation of GitHub Actions
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
// The text with what GitHub's runner would take for a command broken up: "::error::x" at the start of a line,
// "##[error]" anywhere. All text of messages goes through it; annotations are added after it.
std::string without_commands(std::string_view text);
// "::error file=op.yaml,line=3,col=1,title=dsbuild bad_key::what\n"; `level` is error or warning.
std::string render_annotation(const std::string& level, const Message& message, const Repository& repository);
// {"schema":1,"error":{"code","where","what","fix"}}
std::string render_error_json(const Error& error);

// What plan and build show.
struct PlanView {
  const Settings& settings;
  const ArchPlan& archs;
  const BuildPlan& build;
  const std::vector<SlicedCommand>& sliced;  // of `build`
  const Registry& registry;
  const RequirementReport& requirements;
  ToolkitSet toolkits;
  const HostCompiler* cxx = nullptr;
  std::vector<std::string> removes;  // ops of the bundle at --out that this build would take away
  std::optional<Forecast> forecast;  // plan alone shows one
  std::vector<Warning> warnings;
};
PlanView view_of(const Plan& plan, std::vector<std::string> removes);
std::string render_plan_table(const PlanView& view, const Style& style);
std::string render_plan_json(const PlanView& view, bool as_event = false);  // one line; build's first event
// For a neighbour's build: `export TORCH_CUDA_ARCH_LIST="7.0;8.0+PTX"`, only what dsbuild would build.
std::string render_plan_env(const PlanView& view);
// One line per CUDA op: name, then its gencode flags.
std::string render_plan_flags(const PlanView& view);
std::string render_settings(const std::vector<SettingRow>& rows, const Style& style);

// One line of `build --json`.
std::string render_edge_event_json(const EdgeEvent& event);

std::string render_edge_failure(const EdgeFailure& failure, const Style& style);
std::string render_annotation(const EdgeFailure& failure, const Repository& repository);
// What a tool said, as it said it; in colours, with the archs whose own it is, and as an annotation in a
// group of its op where those are asked for.
std::string render_diagnostic(const ToolDiagnostic& told, const Style& style);
std::string render_annotation(const ToolDiagnostic& told, const Repository& repository);
std::string render_diagnostic_json(const ToolDiagnostic& told);  // {"event":"diagnostic",…}
// The last line of a build that did not come to its end: "failed: gamma; built: alpha, host".
std::string render_unfinished(const std::vector<std::string>& failed, const std::vector<std::string>& built);
// {"event":"result",…,"error":…} of a build that ends with one.
std::string render_unbuilt_json(const Error& error, const std::vector<EdgeFailure>& failures,
                                const UnfinishedRun& left);

// A line for each kernel and arch; "" for none.
std::string render_kernels(const std::vector<OpKernels>& kernels, const Style& style);
std::string render_build_outcome(const BuildOutcome& outcome, const Style& style);
std::string render_executed(const ExecutorUses& uses);  // likewise, of tools on other machines
// Of a shard: before its run, and after.
std::string render_shard(const ShardShare& share);
std::string render_shard_json(const ShardShare& share);  // {"event":"shard",…}, one line
std::string render_shard_outcome(const ShardOutcome& outcome);
std::string render_shard_outcome_json(const ShardOutcome& outcome);  // {"event":"result",…}, one line
// Of the compiles of a merge, those that were compiled there being `compiles`.
std::string render_merge(const MergeCounts& merge, int compiles);
Json merge_json(const MergeCounts& merge, int compiles);
std::string render_shared(const MirrorUses& uses);                   // one line; "" where nothing was asked
std::string render_build_outcome_json(const BuildOutcome& outcome);  // {"event":"result",…}, one line

// How large each kernel of a file is, by arch. A kernel that several modules have counts as often as they do.
class KernelTable {
 public:
  struct Row {
    bool is_entry = false;                     // else a __device__ function
    std::map<Target, uint64_t> bytes_by_arch;  // of machine code
    uint64_t bytes() const;
  };
  void add(const ImageKernels& image);
  const std::map<std::string, Row>& rows() const { return rows_; }  // by the kernel's mangled name
  std::vector<std::pair<std::string, Row>> largest_first() const;

 private:
  std::map<std::string, Row> rows_;
};

// What `build --timings` shows; JSON: an event before the result's, {"event":"timings",…}, one line.
std::string render_timings(const Timings& timings, const Style& style);
std::string render_timings_json(const Timings& timings);

// `dsbuild diff`.
std::string render_inventory_diff(const InventoryDiff& diff, const Inventory& a, const Inventory& b,
                                  const Style& style);
std::string render_inventory_diff_json(const InventoryDiff& diff, const Inventory& a, const Inventory& b);

// `dsbuild page`: one HTML file without any other, made of templates/page.
struct PageTemplate {
  std::string html, css, js;  // the first names the others, the title and the data: {{css}}
};
Json page_json(const Inventory& inventory);
// What --json prints, and the page holds: a line in which no markup can begin.
std::string render_page_json(const Json& page);
std::string render_page(const Json& page, const PageTemplate& parts);

struct InspectedFile {
  std::string name;
  DeviceCode content;
  std::vector<Target> gpus;            // those asked about
  std::optional<KernelTable> kernels;  // where they were asked for
  uint64_t bytes = 0;                  // of the file
};
// For a gate: each file by itself.
Gated gated(const std::vector<InspectedFile>& files);
std::string render_inspect(std::vector<InspectedFile> files, const Style& style);
std::string render_inspect_json(const std::vector<InspectedFile>& files, const std::vector<Warning>& warnings,
                                const std::optional<Verdict>& gate);

// How GPUs run what was judged, a line each: "GPU 9.0  3 ops: 2 natively, 1 by PTX"; and who signed it.
std::string render_gate(const Verdict& verdict);

// "compared 3 files: the same as nvcc's": what is not the same is a failure.
std::string render_comparison(size_t files);
// What `dsbuild verify` found of a bundle.
struct VerifiedBundle {
  std::string bundle;
  std::vector<Difference> differences;
  std::optional<size_t> compared;               // how many files, where they were compared with nvcc's
  bool rebuilt = false;                         // its provenance made the same bytes again
  std::optional<std::vector<LoadTrial>> loads;  // where opening them was asked for
  std::optional<Verdict> gate;                  // where something was asked of it
  std::vector<Warning> warnings;
  bool ok() const;  // no difference, all that was opened could be, and it is as it was asked to be
};
std::string render_verified(const VerifiedBundle& verified, const Style& style);
std::string render_verified_json(const VerifiedBundle& verified);

// What `dsbuild sign` did.
std::string render_signed(const SignedBundle& done);
std::string render_signed_json(const SignedBundle& done, const std::string& bundle);

// `dsbuild sbom`, where the bill went into a file.
std::string render_sbom_written(const std::string& file, size_t components);
std::string render_sbom_json(const std::string& file, size_t components);

std::string render_wheel(const Package& package, const WrittenWheel& wheel);
std::string render_wheel_json(const Package& package, const WrittenWheel& wheel);
std::string render_installed(const Package& package, const std::string& target);
std::string render_installed_json(const Package& package, const std::string& target,
                                  const std::vector<Warning>& warnings);
// `removed`: as remove_packages says it.
std::string render_removed(const std::vector<std::string>& removed, const std::string& target);
std::string render_removed_json(const std::vector<std::string>& removed, const std::string& target);

// What `dsbuild new` wrote.
std::string render_new_op(const NewOp& made);
std::string render_new_op_json(const NewOp& made);
std::string render_new_pack(const WrittenProject& written, const std::string& next);
std::string render_new_pack_json(const WrittenProject& written, const std::string& next);

// What `dsbuild load` found or built: its path.
std::string render_loaded(const LoadedOp& loaded);
std::string render_loaded_json(const LoadedOp& loaded);

// What `dsbuild record` noted; `file`: where it stands, "" where nothing was noted.
// `next`: the commands that build it.
std::string render_recorded(const Workload& workload, const std::string& file,
                            const std::vector<std::string>& next);
std::string render_recorded_json(const Workload& workload, const std::string& file, int exit_code);

// What calls of nvcc's came to, for who started the build that made them.
std::string render_calls(const std::vector<CallEnd>& calls);
std::string render_calls_json(const std::vector<CallEnd>& calls, int exit_code);

std::string render_removed_folders_json(const std::vector<Path>& folders);

// The store of results, as `dsbuild cache` shows it.
struct CacheView {
  std::string folder;
  unsigned long long limit = 0;  // bytes; 0: nothing is kept
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
  std::string name;  // of the wheel's package, else ""
  Path path;         // the bundle, the package's folder
  bool operator==(const Installation&) const = default;
};
// Whether this machine can build an op for what is requested.
struct OpCompatibility {
  std::string op;
  bool selected = false;
  std::vector<Finding> findings;  // its tools first, then its requirements; met ones too
  std::string skipped;            // what else keeps it from being built: "no arch left: …"
  bool compatible() const;
  std::vector<std::string> reasons() const;  // why not compatible, each with its fix
};
OpCompatibility compatibility_of(const OpBuilder& builder, const Survey& survey, const PlannedOp& planned);
struct ReportRow : OpCompatibility {
  std::vector<Installation> installed_by;  // the first is the one that the row describes
  std::vector<std::string> notes;          // why what lies in site-packages is not installed for this Python
  ArchSet archs;                           // of what is installed
  std::vector<std::string> features_off;   // likewise, as its manifest has them
  std::vector<Coverage> coverage;  // how each GPU runs what is installed; none for an op without device code
  bool installed() const { return !installed_by.empty(); }
};
struct ReportToolkit {
  std::string brand;               // "CUDA"
  std::optional<Toolkit> toolkit;  // what a build would take, or what comes nearest
  std::optional<Error> error;
  const Toolkit* usable() const { return toolkit && !error ? &*toolkit : nullptr; }
};
struct Report {
  std::vector<ReportRow> ops;
  Host host;
  std::string pack;  // "native in /usr/share/dsbuild/ops/native"
  std::optional<Ninja> ninja;
  std::optional<Error> ninja_error;
  std::vector<ReportToolkit> chosen;  // of each vendor whose GPUs are asked for
  Toolkits toolkits;
  std::optional<Error> cxx_error;
  std::vector<Gpu> gpus;  // visible ones
  std::optional<Python> python;
  std::optional<Torch> torch;
  Path bundle_path;
  std::optional<Manifest> bundle;
  std::optional<Error> bundle_error;
  std::vector<InstalledWheel> wheels;  // of all packs
  std::optional<InstalledDeepSpeed> deepspeed;
  std::optional<Verdict> gate;  // of the bundle, else of the wheels, where something was asked of them
  std::vector<Warning> warnings;
};
// With the bundle, Ninja, Python, what is installed in its site-packages, and the GPUs of this machine.
// The GPUs that the gate names stand in place of the visible ones. Errors: those of judge.
Result<Report> make_report(const Survey& survey, const Gate& gate, Session& session);
struct ReportOptions {
  bool hide_operator_status = false;      // the environment alone
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
  ArchSet archs;                      // what it keeps of the request
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
