#include "plan/build_plan.h"

#include <algorithm>

#include "arch/nvidia.h"
#include "base/build_layout.h"
#include "base/digest.h"
#include "base/text.h"
#include "exec/action_key.h"
#include "hip/hipify_script.h"
#include "plan/backend.h"
#include "plan/hipify.h"
#include "plan/precompiled_header.h"
#include "plan/shared_sources.h"
#include "toolkit/family.h"

namespace dsbuild {
namespace {

void append_all(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

UsageRequirements contribution_of(const BuildPlanInput& input, const std::string& op) {
  UsageRequirements sum;
  const auto found = input.requirements.by_op.find(op);
  if (found == input.requirements.by_op.end()) return sum;
  for (const Finding& finding : found->second) {
    if (!finding.ok) continue;
    const UsageRequirements& usage = finding.usage;
    append_all(sum.include_dirs, usage.include_dirs);
    append_all(sum.cxx_include_dirs, usage.cxx_include_dirs);
    append_all(sum.device_include_dirs, usage.device_include_dirs);
    append_all(sum.fallback_include_dirs, usage.fallback_include_dirs);
    append_all(sum.base_cxx_flags, usage.base_cxx_flags);
    append_all(sum.base_nvcc_flags, usage.base_nvcc_flags);
    append_all(sum.base_hip_flags, usage.base_hip_flags);
    append_all(sum.cxx_flags, usage.cxx_flags);
    append_all(sum.link_flags, usage.link_flags);
    append_all(sum.fallback_link_flags, usage.fallback_link_flags);
    sum.library_files.insert(usage.library_files.begin(), usage.library_files.end());
    sum.std = std::max(sum.std, usage.std);
    sum.python_module = sum.python_module || usage.python_module;
    if (usage.hipify) sum.hipify = usage.hipify;
  }
  for (auto* words : {&sum.include_dirs, &sum.cxx_include_dirs, &sum.device_include_dirs,
                      &sum.fallback_include_dirs, &sum.base_cxx_flags, &sum.base_nvcc_flags,
                      &sum.base_hip_flags, &sum.cxx_flags, &sum.link_flags, &sum.fallback_link_flags})
    *words = input.roots.named(std::move(*words));
  return sum;
}

// -lcurand where the library is there under that name, else -l:libcurand.so.10.
void name_library_files(std::vector<std::string>& flags, const std::map<std::string, std::string>& files) {
  for (std::string& flag : flags) {
    const auto file = flag.rfind("-l", 0) == 0 ? files.find(flag.substr(2)) : files.end();
    if (file != files.end()) flag = "-l:" + file->second;
  }
}

Edge link_edge(const BuildPlanInput& input, const BackendOp& op, const Backend& backend,
               const std::vector<Edge>& compiles) {
  Edge edge;
  edge.kind = EdgeKind::link;
  edge.op = op.builder.name();
  for (const Edge& compile : compiles)
    edge.inputs.push_back(compile.output);
  // Some compilers link libstdc++ statically. Its streams then must not mix with those of the process.
  edge.flags = {"-shared", "-Wl,--exclude-libs,libstdc++.a"};
  // Names that nothing but a debugger looks for; what is exported keeps its name.
  if (std::ranges::none_of(compiles, has_debug_info)) edge.flags.emplace_back("-Wl,--strip-all");
  if (!op.usage.python_module) edge.flags.emplace_back("-Wl,--no-undefined");
  append_all(edge.flags, op.builder.extra_ldflags(op.context));
  append_all(edge.flags, op.usage.link_flags);
  append_all(edge.flags, backend.link_flags(input, op));
  append_all(edge.flags, op.usage.fallback_link_flags);
  name_library_files(edge.flags, op.usage.library_files);
  edge.by_host_compiler = backend.has_host_compiler;
  edge.implicit_inputs = {edge.by_host_compiler ? k_nvcc_id_file : k_cxx_id_file};
  if (op.usage.python_module) edge.implicit_inputs.emplace_back(k_torch_id_file);
  edge.output = library_path(edge.op);
  const ToolText& linker = input.tools.of(edge.by_host_compiler ? k_nvcc_tool : k_cxx_tool);
  if (linker.links_tell_files) edge.flags.push_back("-Wl,--dependency-file=" + edge.output + k_depfile_end);
  return edge;
}

std::string torch_identity(const BuildPlanInput& input, const Torch& torch) {
  return "torch " + torch.version + " " + torch.python.tag + " " + input.roots.named(torch.home.string());
}

// The word behind an option, in the same word or in the next one; "" where there is none.
std::string value_of(const std::string& option, const std::vector<std::string>& flags, size_t at) {
  if (flags[at] == option) return at + 1 < flags.size() ? flags[at + 1] : "";
  return flags[at].starts_with(option) ? flags[at].substr(option.size()) : "";
}

// "/opt/lib/libfoo.so", "libfoo.so.1".
bool is_shared_library(const std::string& flag) {
  return !flag.starts_with("-") && (flag.ends_with(".so") || flag.find(".so.") != std::string::npos);
}

// nullopt where the op itself says that others have its symbols, whom nobody can know.
std::optional<ModuleLink> module_link(const BuildPlanInput& input, const std::vector<std::string>& flags) {
  ModuleLink link;
  for (size_t i = 0; i < flags.size(); ++i) {
    if (flags[i].find("--unresolved-symbols=") != std::string::npos) return std::nullopt;
    if (std::string folder = value_of("-L", flags, i); !folder.empty())
      link.folders.push_back(std::move(folder));
    if (std::string name = value_of("-l", flags, i); !name.empty()) link.libraries.push_back(std::move(name));
    if (is_shared_library(flags[i])) link.folders.push_back(Path(flags[i]).parent_path().string());
  }
  if (const auto& torch = input.requirements.torch) {
    link.python = torch->python.executable.string();
    link.torch = torch_identity(input, *torch);
  }
  return link;
}

Edge verify_edge(const ExpectedOp& expected) {
  Edge edge;
  edge.kind = EdgeKind::verify;
  edge.op = expected.op;
  edge.inputs = {std::string(k_checks_folder) + "/" + expected.op + ".json"};
  edge.implicit_inputs = {expected.library};
  for (const ExpectedObject& object : expected.objects)
    edge.implicit_inputs.push_back(object.file);
  edge.output = std::string(k_checks_folder) + "/" + expected.op + ".ok";
  return edge;
}

void plan_op(const BuildPlanInput& input, const PlannedOp& planned, BuildPlan& plan) {
  const OpBuilder& builder = *input.registry.find(planned.name);
  const Backend& backend = *find_backend(builder.spec().backend);
  const Toolkit* toolkit = toolkit_of(input.toolkits, builder.spec());
  BackendOp op{builder, planned, toolkit,
               when_context(input.registry, input.requirements, toolkit, input.cpu, planned.archs),
               contribution_of(input, planned.name)};
  if (op.usage.std > 0) op.context.usual_std = op.usage.std;
  std::vector<Edge> compiles;
  ExpectedOp expected{planned.name, library_path(planned.name), {}, builder.exports(op.context)};
  for (const PlannedSource& source : planned.sources) {
    compiles.push_back(backend.compile_edge(input, op, source));
    if (op.usage.python_module) compiles.back().implicit_inputs.emplace_back(k_torch_id_file);
    if (is_hipified(op, source.source)) compiles.back().implicit_inputs.push_back(hipify_list(op));
    expected.objects.push_back({source.source.id(), compiles.back().output, source.archs});
  }
  auto device_link = backend.device_link_edge ? backend.device_link_edge(op, compiles) : std::nullopt;
  if (device_link) {
    device_link->part = k_device_code;
    compiles.push_back(std::move(*device_link));
    for (ExpectedObject& object : expected.objects)
      object.archs = {};
    expected.objects.push_back({k_device_code, compiles.back().output, planned.archs});
  }
  if (auto edge = hipify_edge(op)) plan.edges.push_back(std::move(*edge));
  const Edge link = link_edge(input, op, backend, compiles);
  if (op.usage.python_module) expected.module = module_link(input, link.flags);
  if (expected.module) expected.module->warns = builder.spec().warns_of_undefined_symbols;
  plan.edges.insert(plan.edges.end(), compiles.begin(), compiles.end());
  plan.edges.push_back(link);
  plan.edges.push_back(verify_edge(expected));
  plan.files.push_back(
      {std::string(k_checks_folder) + "/" + planned.name + ".json", render_expected(expected)});
  plan.expected.push_back(std::move(expected));
}

std::string compiler_identity(const HostCompiler& compiler) {
  return compiler.family + " " + compiler.version.text() + " " + compiler.path.string();
}

std::optional<Hipify> hipify_of(const BuildPlanInput& input) {
  for (const PlannedOp& op : input.archs.ops)
    if (op.status == OpStatus::build)
      if (auto hipify = contribution_of(input, op.name).hipify) return hipify;
  return std::nullopt;
}

void add_tool(BuildPlan& plan, const char* name, std::vector<std::string> words) {
  plan.tools.all.emplace_back(name, std::move(words));
}

// The compiler of a vendor's GPUs, under its family's name.
void plan_toolkit(const BuildPlanInput& input, const Toolkit& toolkit, BuildPlan& plan) {
  const CompilerFamily& family = *toolkit.family;
  std::vector<std::string> words = {input.roots.named(toolkit.compiler().string())};
  append_all(words, toolkit.own_flags);
  if (&toolkit.vendor() == &nvidia()) append_all(words, input.settings.nvcc_prepend_flags.value);
  std::string text =
      std::string(family.tool) + " " + toolkit.version.text() + " sha256 " + toolkit.compiler_digest + "\n";
  if (family.host_option && toolkit.host) {
    append_all(words, {family.host_option, toolkit.host->path.string()});
    text += compiler_identity(*toolkit.host) + "\n";
  }
  add_tool(plan, family.tool, std::move(words));
  plan.files.push_back({id_file(family.tool), text + input.tools.of(family.tool).text});
}

void plan_tools(const BuildPlanInput& input, BuildPlan& plan) {
  for (const Toolkit* toolkit : input.toolkits)
    plan_toolkit(input, *toolkit, plan);
  if (const auto hipify = hipify_of(input)) {
    add_tool(plan, k_hipify_tool, {hipify->python, hipify->package});
    plan.files.push_back({k_hipify_id_file, hipify->identity + "script " + sha256(k_hipify_script) + "\n"});
  }
  if (input.cxx) {
    add_tool(plan, k_cxx_tool, {input.cxx->path.string()});
    plan.files.push_back(
        {k_cxx_id_file, compiler_identity(*input.cxx) + "\n" + input.tools.of(k_cxx_tool).text});
  }
  if (const Toolkit* cuda = input.toolkits.of(nvidia()); cuda && cuda->host)
    add_tool(plan, k_host_cxx_tool, {cuda->host->path.string()});
  add_tool(plan, k_dsbuild_tool, {input.program.string()});
  if (const auto& torch = input.requirements.torch)
    plan.files.push_back({k_torch_id_file, torch_identity(input, *torch) + "\n"});
}

void warn_of_compress_mode(const BuildPlanInput& input, BuildPlan& plan) {
  const Toolkit* cuda = input.toolkits.of(nvidia());
  if (!cuda || input.settings.compress_mode.value.empty() || cuda->has_option("--compress-mode")) return;
  plan.warnings.push_back(
      warning("no_compress_mode", input.settings.compress_mode.origin,
              cuda->short_name() + " has no --compress-mode: device code is compressed as it does by default",
              "Use CUDA 12.8 or newer, or leave --compress-mode out."));
}

char sanitized(char c) {
  const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     std::string_view("._-+=,/").find(c) != std::string_view::npos;
  return plain ? c : '_';
}

std::string plain_name(std::string name, size_t longest) {
  std::transform(name.begin(), name.end(), name.begin(), sanitized);
  return name.substr(0, longest);
}

}  // namespace

const std::vector<std::string>& Tools::of(std::string_view name) const {
  static const std::vector<std::string> none;
  for (const auto& [tool, words] : all)
    if (tool == name) return words;
  return none;
}

std::string source_path(const std::string& relative) {
  return std::string(k_pack_folder) + "/" + relative;
}

std::string library_path(const std::string& op) {
  return std::string(k_libraries_folder) + "/" + op + ".so";
}

// One folder per TU: nvcc puts its temporaries there, and two TUs never share a name. Names are plain, so
// that Ninja shows them as they are, and leave room for what tools append; the digest keeps ids apart that
// differ only in what was left out.
std::string object_path(const std::string& op, const SourceSpec& source) {
  constexpr size_t k_longest_folder = 150;
  constexpr size_t k_longest_stem = 100;
  const std::string id = source.id();
  std::string folder = plain_name(id, k_longest_folder);
  if (folder != id) folder += "-" + sha256(id).substr(0, 8);
  return std::string(k_objects_folder) + "/" + op + "/" + folder + "/" +
         plain_name(Path(source.path).stem().string(), k_longest_stem) + ".o";
}

Roots find_roots(const ToolkitSet& toolkits, const RequirementReport& requirements) {
  Roots roots;
  if (const Toolkit* cuda = toolkits.of(nvidia())) {
    roots.add("cuda", cuda->home.string());
    // NVIDIA's packages have these two at different places.
    roots.add("cuda_include", cuda->include_spellings);
    roots.add("cuda_lib", cuda->library_dir.string());
  }
  for (const auto& [op, findings] : requirements.by_op)
    for (const Finding& finding : findings)
      for (const auto& [name, folder] : finding.usage.roots)
        if (finding.ok) roots.add(name, folder);
  return roots;
}

BuildPlan plan_build(const BuildPlanInput& input) {
  BuildPlan plan;
  plan.shared = input.archs.shared;
  plan_tools(input, plan);
  warn_of_compress_mode(input, plan);
  for (const PlannedOp& op : input.archs.ops)
    if (op.status == OpStatus::build) plan_op(input, op, plan);
  precompile_torch_header(input, plan);
  mark_shared_sources(plan);
  name_users_of_precompiled_headers(input.settings.precompile.value, plan);
  plan.links = input.roots.links();
  plan.links.emplace_back(k_pack_folder, input.registry.source_root);
  return plan;
}

std::vector<std::string> edge_argv(const BuildPlan& plan, const Edge& edge) {
  std::vector<std::string> argv = plan.tools.of(k_dsbuild_tool);
  argv.emplace_back("action");
  append_all(argv, step_words(plan, edge));
  return argv;
}

bool runs_tools(const Edge& edge) {
  return *kind_row(edge.kind).tool != '\0';
}

std::string tools_file(const Edge& edge) {
  if (!runs_tools(edge)) return k_no_tools;
  return id_file(edge.by_host_compiler ? k_nvcc_tool : kind_row(edge.kind).tool);
}

bool Edge::is_dirty_after(const std::string& path) const {
  return std::find(implicit_inputs.begin(), implicit_inputs.end(), path) != implicit_inputs.end();
}

bool is_for_op(const BuildPlan& plan, const Edge& edge, const std::string& op) {
  if (edge.op == op) return true;
  if (!edge.is_compile()) return false;
  return std::any_of(plan.edges.begin(), plan.edges.end(), [&](const Edge& user) {
    return (user.is_dirty_after(edge.output) || user.after == edge.output) && is_for_op(plan, user, op);
  });
}

namespace {

// "" where none of the edge's inputs is made anew.
std::string input_made_anew(const Edge& edge, const std::set<std::string>& made) {
  for (const auto* inputs : {&edge.inputs, &edge.implicit_inputs})
    for (const std::string& input : *inputs)
      if (made.count(input) > 0) return input;
  return "";
}

}  // namespace

PendingEdges with_users(const BuildPlan& plan, PendingEdges pending) {
  std::set<std::string> made;
  // Edges stand in the order of their times: what uses an output may stand before what makes it.
  for (size_t before = plan.edges.size() + 1; before != made.size();) {
    before = made.size();
    for (const Edge& edge : plan.edges) {
      if (const std::string input = input_made_anew(edge, made); !input.empty())
        pending.emplace(edge.output, input + " is rebuilt");
      if (pending.count(edge.output) == 0) continue;
      made.insert(edge.output);
      made.insert(edge.more_outputs.begin(), edge.more_outputs.end());
    }
  }
  return pending;
}

std::string plain_word(const Target& target) {
  return replace_all(replace_all(target.name(), ":", "_"), "+", "_on");
}

const std::vector<std::string>& compiler_of(const BuildPlan& plan, const Edge& edge) {
  return plan.tools.of(edge.by_host_compiler ? k_host_cxx_tool : kind_row(edge.kind).tool);
}

std::vector<std::string> compiler_words(const BuildPlan& plan, const Edge& edge) {
  std::vector<std::string> words = compiler_of(plan, edge);
  append_all(words, edge.flags);
  return words;
}

std::vector<std::string> depfile_flags(EdgeKind kind, const std::string& output) {
  const std::string depfile = output + k_depfile_end;
  if (kind != EdgeKind::hip_slice) return {"-MD", "-MF", depfile, "-MT", output};
  std::vector<std::string> flags;
  for (const std::string& word : {std::string("-dependency-file"), depfile, std::string("-MT"), output,
                                  std::string("-sys-header-deps")})
    append_all(flags, {"-Xclang", word});
  return flags;
}

std::vector<std::string> plain_argv(const BuildPlan& plan, const Edge& edge) {
  const std::string temporary = edge.output + k_temporary_end;
  if (edge.is_link()) {
    std::vector<std::string> argv = compiler_of(plan, edge);
    argv.insert(argv.end(), {"-o", temporary});
    if (edge.kind == EdgeKind::cuda_link)
      append_all(argv, edge.inputs);
    else
      argv.push_back("@" + edge.output + k_objects_list_end);
    append_all(argv, edge.flags);
    return argv;
  }
  std::vector<std::string> argv = compiler_words(plan, edge);
  for (const Target& target : edge.targets)
    argv.push_back(target.flag());
  append_all(argv, depfile_flags(edge.kind, edge.output));
  append_all(argv, {"-c", edge.inputs.front(), "-o", temporary});
  return argv;
}

std::vector<std::string> step_words(const BuildPlan& plan, const Edge& edge) {
  const std::string tools = tools_file(edge);
  std::vector<std::string> words;
  switch (edge.form()) {
    case EdgeForm::slice:
      words = {"slice", tools, edge.output, edge.step_file};
      words.emplace_back("--");
      append_all(words, edge.flags);
      if (!edge.reads_source()) break;
      words.push_back(edge.inputs.front());
      for (const Target& target : edge.targets)
        words.push_back(target.flag());
      break;
    case EdgeForm::bundle:
      words = {"bundle", tools, edge.output};
      append_all(words, edge.inputs);
      words.emplace_back("--");
      append_all(words, compiler_words(plan, edge));
      break;
    case EdgeForm::hipify:
      words = {"hipify", tools, edge.output, "--"};
      for (const auto& more : {plan.tools.of(k_hipify_tool), edge.flags, edge.inputs})
        append_all(words, more);
      break;
    case EdgeForm::compile:
    case EdgeForm::link:
      words = {"run", tools, edge.output};
      if (edge.is_shared) words.emplace_back(k_known_by_text);
      words.emplace_back("--");
      append_all(words, plain_argv(plan, edge));
      break;
    case EdgeForm::verify:
      words = {"verify", tools, edge.output, edge.inputs.front()};
      break;
    case EdgeForm::comparison:
      words = {"compare", tools, edge.output};
      append_all(words, edge.inputs);
      break;
  }
  return words;
}

}  // namespace dsbuild
