#include "driver/make_statement.h"

#include <algorithm>
#include <random>

#include "base/digest.h"
#include "driver/build_inputs.h"
#include "driver/pack_commit.h"
#include "inputs/path_origin.h"
#include "settings/options.h"
#include "toolkit/family.h"

namespace dsbuild {
namespace {

using Names = std::set<std::string>;

std::string purl(const std::string& type, const std::string& name, const std::string& version) {
  return "pkg:" + type + "/" + replace_all(to_lower(name), " ", "-") + "@" + replace_all(version, "+", "%2B");
}

Dependency tool(const char* kind, const std::string& name, const std::string& version, const Names& users) {
  return {.kind = kind,
          .name = name,
          .sha256 = {},
          .commit = {},
          .uri = purl("generic", name, version),
          .version = version,
          .modified = {},
          .used_by = users};
}

class StatementMaker {
 public:
  StatementMaker(const Plan& plan, const Manifest& manifest, Session& session)
      : plan_(plan), manifest_(manifest), session_(session) {
    for (const ManifestOp& op : manifest.ops)
      libraries_[op.planned_as()] = op.file;
  }

  Statement make() {
    BuildInputs inputs = inputs_of_build(plan_, libraries_, session_.system.files);
    Statement statement{.subjects = subjects_of(manifest_, render_manifest(manifest_)),
                        .request = request(),
                        .variables = std::move(inputs.variables),
                        .actions = std::move(inputs.actions),
                        .reproducible = inputs.reproducible,
                        .dependencies = std::move(inputs.files),
                        .run = run()};
    add_compilers(statement.dependencies);
    add_packages(statement.dependencies);
    add_pack(statement.dependencies);
    std::ranges::sort(statement.dependencies, [](const Dependency& a, const Dependency& b) {
      return std::tie(a.kind, a.name, a.version, a.sha256) < std::tie(b.kind, b.name, b.version, b.sha256);
    });
    return statement;
  }

 private:
  RequestedBuild request() const {
    const Settings& settings = plan_.settings();
    RequestedBuild request{.pack = manifest_.pack,
                           .ops = {},
                           .archs = arch_strings(manifest_.requested),
                           .options = settings_of_bytes(settings),
                           .source_date_epoch = settings.variable("SOURCE_DATE_EPOCH"),
                           .workload = {}};
    for (const ManifestOp& op : manifest_.ops)
      if (request.ops.empty() || request.ops.back() != op.name) request.ops.push_back(op.name);
    for (const auto& [op, asked] : settings.selection.workload)
      if (!asked.archs.empty()) request.workload[op] = asked.archs;
    const auto baseline = request.options.find("cpu_baseline");
    if (baseline != request.options.end())  // `native` is a level of this machine alone
      baseline->second = plan_.survey.requirements.cpu_level.name;
    return request;
  }

  BuildRun run() const {
    const Settings& settings = plan_.settings();
    const std::string& invocation = settings.invocation.value;
    return {.builder = settings.builder_id.value,
            .dsbuild = k_version,
            .invocation = invocation.empty() ? "urn:dsbuild:run:" + random_name() : invocation,
            .started = utc_text(session_.began),
            .finished = utc_text(unix_seconds())};
  }

  static std::string random_name() {
    std::random_device random;
    std::string bytes;
    for (int i = 0; i < 16; ++i)
      bytes += static_cast<char>(random());
    return hex_digits(bytes);
  }

  // Of the ops for which `is_one` holds.
  template <class IsOne>
  Names files_where(IsOne is_one) const {
    Names files;
    for (const auto& [op, file] : libraries_)
      if (is_one(op)) files.insert(file);
    return files;
  }

  // Of the ops whose edges run the tool.
  Names users_of(const std::string& tool) const {
    return files_where([&](const std::string& op) {
      return std::ranges::any_of(plan_.graph.edges, [&](const Edge& edge) {
        return edge.op == op && tools_file(edge) == id_file(tool);
      });
    });
  }

  void add_compilers(std::vector<Dependency>& all) const {
    std::map<std::string, Names> users_of_hosts;
    const auto add_host = [&](const HostCompiler& host, const Names& users) {
      users_of_hosts[host.family + " " + host.version.text()].insert(users.begin(), users.end());
    };
    for (const Toolkit* toolkit : plan_.toolkits()) {
      const Names users = users_of(toolkit->family->tool);
      if (users.empty()) continue;
      all.push_back(tool(k_of_toolkit, toolkit->family->name, toolkit->version.text(), users));
      if (toolkit->host) add_host(*toolkit->host, users);
    }
    if (const Names users = users_of(k_cxx_tool); !users.empty()) add_host(plan_.cxx(), users);
    for (const auto& [host, users] : users_of_hosts) {
      const size_t space = host.find(' ');
      all.push_back(tool(k_of_compiler, host.substr(0, space), host.substr(space + 1), users));
    }
  }

  // Of Python's, whose version a requirement has found.
  void add_packages(std::vector<Dependency>& all) const {
    add_package("apache-tvm-ffi", RequirementKind::tvm_ffi, manifest_.tvm_ffi, all);
    if (manifest_.torch) add_package("torch", RequirementKind::torch, manifest_.torch->version, all);
  }

  void add_package(const std::string& name, RequirementKind kind, const std::string& version,
                   std::vector<Dependency>& all) const {
    const auto& by_op = plan_.survey.requirements.by_op;
    const Names users = files_where([&](const std::string& op) {
      const auto findings = by_op.find(op);
      return findings != by_op.end() && std::ranges::any_of(findings->second, [&](const Finding& found) {
               return found.kind == kind && found.ok;
             });
    });
    if (users.empty() || version.empty()) return;
    Dependency package = tool(k_of_package, name, version, users);
    package.uri = purl("pypi", name, version);
    all.push_back(std::move(package));
  }

  void add_pack(std::vector<Dependency>& all) const {
    Names sources;
    for (const Dependency& dependency : all)
      if (is_in_pack(dependency.name))
        sources.insert(Path(dependency.name).lexically_relative(k_pack_folder).string());
    const auto found =
        find_pack_commit(plan_.registry().source_root, {sources.begin(), sources.end()}, session_.system);
    if (!found) return;
    all.push_back({.kind = k_of_pack,
                   .name = manifest_.pack,
                   .sha256 = {},
                   .commit = found->commit,
                   .uri = found->repository.empty() ? "" : "git+" + found->repository + "@" + found->commit,
                   .version = manifest_.source_version,
                   .modified = found->modified,
                   .used_by = files_where([](const std::string&) { return true; })});
  }

  const Plan& plan_;
  const Manifest& manifest_;
  Session& session_;
  std::map<std::string, std::string> libraries_;  // by the op's name in the plan
};

}  // namespace

Statement make_statement(const Plan& plan, const Manifest& manifest, Session& session) {
  return StatementMaker(plan, manifest, session).make();
}

}  // namespace dsbuild
