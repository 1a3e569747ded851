#include "report/json_parts.h"

namespace dsbuild {
namespace {

Json installations_json(const std::vector<Installation>& installations) {
  Json list = Json::array();
  for (const Installation& one : installations)
    list.push_back({{"by", one.by}, {"name", one.name}, {"path", one.path.string()}});
  return list;
}

Json row_json(const ReportRow& row) {
  return {{"name", row.op},
          {"selected", row.selected},
          {"installed", row.installed()},
          {"installed_by", installations_json(row.installed_by)},
          {"notes", row.notes},
          {"compatible", row.compatible()},
          {"archs", arch_strings(row.archs)},
          {"features_off", row.features_off},
          {"coverage", coverage_json(row.coverage)},
          {"findings", findings_json(row.findings)},
          {"reasons", row.reasons()}};
}

Json gpus_json(const std::vector<Gpu>& gpus) {
  Json list = Json::array();
  for (const Gpu& gpu : gpus)
    list.push_back({{"cc", gpu.arch ? Json(gpu.arch->text()) : Json(nullptr)},
                    {"name", gpu.name},
                    {"driver", gpu.driver}});
  return list;
}

Json compilers_json(const std::vector<HostCompiler>& compilers) {
  Json list = Json::array();
  for (const HostCompiler& compiler : compilers)
    list.push_back({{"path", compiler.path.string()},
                    {"family", compiler.family},
                    {"version", compiler.version.text()},
                    {"origin", compiler.origin}});
  return list;
}

Json torch_json(const std::optional<Torch>& torch) {
  if (!torch) return nullptr;
  return {{"path", torch->home.string()},
          {"version", torch->version},
          {"cuda", torch->cuda.empty() ? Json(nullptr) : Json(torch->cuda)},
          {"hip", torch->hip.empty() ? Json(nullptr) : Json(torch->hip)}};
}

Json limits_json(const Host& host) {
  return {{"cores", host.cgroup.cores ? Json(*host.cgroup.cores) : Json(nullptr)},
          {"memory_bytes", host.cgroup.memory_bytes ? Json(*host.cgroup.memory_bytes) : Json(nullptr)}};
}

Json bundle_json(const Report& report) {
  if (!report.bundle) return nullptr;
  return {{"path", report.bundle_path.string()},
          {"cuda", report.bundle->toolkit.version},
          {"requested", arch_strings(report.bundle->requested)},
          {"shared", arch_strings(report.bundle->shared)},
          {"ops", report.bundle->ops.size()}};
}

Json wheels_json(const std::vector<InstalledWheel>& wheels) {
  Json list = Json::array();
  for (const InstalledWheel& wheel : wheels) {
    Json ops = Json::array();
    for (const ManifestOp& op : wheel.manifest.ops)
      ops.push_back(op.name);
    list.push_back({{"name", wheel.name},
                    {"path", wheel.folder.string()},
                    {"pack", wheel.manifest.pack},
                    {"source_version", wheel.manifest.source_version},
                    {"ops", std::move(ops)}});
  }
  return list;
}

Json deepspeed_json(const std::optional<InstalledDeepSpeed>& deepspeed) {
  if (!deepspeed) return nullptr;
  return {{"path", deepspeed->folder.string()}, {"version", deepspeed->version},
          {"installed_ops", deepspeed->ops},    {"accelerator", deepspeed->accelerator},
          {"torch", deepspeed->torch},          {"cuda", deepspeed->cuda}};
}

Json problems_json(const Report& report) {
  Json list = Json::array();
  const auto add = [&](const std::optional<Error>& problem) {
    if (problem) list.push_back(message_json(*problem));
  };
  add(report.ninja_error);
  for (const ReportToolkit& chosen : report.chosen)
    add(chosen.error);
  add(report.cxx_error);
  return list;
}

Json usable_json(const ReportToolkit& chosen) {
  return chosen.usable() ? toolkit_json(*chosen.usable()) : Json(nullptr);
}

Json program_json(const Path& program, const std::string& version) {
  Json json;
  json["path"] = program.string();
  json["version"] = version;
  return json;
}

}  // namespace

std::string render_report_json(const Report& report) {
  Json json = json_document();
  json["toolkit"] = usable_json(report.chosen.front());
  json["chosen"] = Json::object();
  for (const ReportToolkit& chosen : report.chosen)
    json["chosen"][chosen.brand] = usable_json(chosen);
  json["toolkits"] = Json::array();
  for (const Toolkit& toolkit : report.toolkits.found)
    json["toolkits"].push_back(toolkit_json(toolkit));
  json["rejected"] = rejected_json(report.toolkits.rejected);
  json["compilers"] = compilers_json(report.toolkits.host_compilers);
  json["gpus"] = gpus_json(report.gpus);
  json["ninja"] =
      report.ninja ? program_json(report.ninja->program, report.ninja->version.text()) : Json(nullptr);
  json["python"] =
      report.python ? program_json(report.python->executable, report.python->version) : Json(nullptr);
  json["torch"] = torch_json(report.torch);
  json["shared_memory_bytes"] = report.host.shared_memory_bytes;
  json["cgroup"] = limits_json(report.host);
  json["bundle"] = bundle_json(report);
  json["wheels"] = wheels_json(report.wheels);
  json["deepspeed"] = deepspeed_json(report.deepspeed);
  json["ops"] = Json::array();
  for (const ReportRow& row : report.ops)
    json["ops"].push_back(row_json(row));
  if (report.gate) json["gate"] = gate_json(*report.gate);
  json["problems"] = problems_json(report);
  json["environment"] = Json::object();
  for (const auto& [name, value] : environment_facts(report))
    json["environment"][name] = value;
  json["warnings"] = warnings_json(report.warnings);
  return json_line(json);
}

}  // namespace dsbuild
