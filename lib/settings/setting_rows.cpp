#include "settings/settings.h"

namespace dsbuild {
namespace {

std::string value_text(const std::string& value) {
  return value;
}
std::string value_text(const Path& value) {
  return value.string();
}
std::string value_text(bool value) {
  return value ? "yes" : "no";
}
std::string value_text(const std::vector<std::string>& value) {
  return shell_join(value);
}

std::string value_text(ColorMode value) {
  return value == ColorMode::automatic ? "auto" : value == ColorMode::always ? "always" : "never";
}

std::string value_text(CudaBackend value) {
  return value == CudaBackend::automatic ? "auto" : value == CudaBackend::slices ? "slices" : "nvcc";
}

std::string value_text(Precompile value) {
  return value == Precompile::automatic ? "auto" : value == Precompile::on ? "on" : "off";
}

std::string value_text(AcceleratorKind value) {
  return value == AcceleratorKind::automatic ? "auto" : value == AcceleratorKind::cuda ? "cuda" : "cpu";
}

template <class T>
SettingRow row(const std::string& name, const Setting<T>& setting) {
  return {name, value_text(setting.value), setting.origin};
}

SettingRow number_row(const std::string& name, const Setting<int>& setting, int automatic,
                      const char* meaning) {
  return {name, setting.value == automatic ? meaning : std::to_string(setting.value), setting.origin};
}

std::string ops_text(const Selection& selection) {
  std::vector<std::string> words;
  if (selection.all) words.push_back("all");
  words.insert(words.end(), selection.names.begin(), selection.names.end());
  for (const std::string& name : selection.without)
    words.push_back("-" + name);
  return join(words, ",");
}

void add_selection_rows(const Selection& selection, std::vector<SettingRow>& rows) {
  rows.push_back({"ops", ops_text(selection), selection.origin});
  const auto add_switch = [&](const std::string& name, Switch value) {
    if (value != Switch::unset) rows.push_back({name, value == Switch::on ? "on" : "off", name});
  };
  add_switch("DS_BUILD_OPS", selection.build_ops);
  for (const auto& [name, value] : selection.variables)
    add_switch(name, value);
}

}  // namespace

std::vector<SettingRow> setting_rows(const Settings& settings) {
  std::vector<SettingRow> rows;
  add_selection_rows(settings.selection, rows);
  rows.push_back(row("arch", settings.arch_text));
  rows.push_back(row("pack", settings.pack));
  rows.push_back(row("source", settings.source));
  rows.push_back(row("out", settings.out));
  rows.push_back(row("build_dir", settings.build_dir));
  rows.push_back(row("cuda_home", settings.cuda_home));
  rows.push_back(number_row("jobs", settings.jobs, 0, "auto"));
  rows.push_back({"memory", settings.memory.value == 0 ? "auto" : human_size(settings.memory.value),
                  settings.memory.origin});
  rows.push_back(number_row("nvcc_threads", settings.nvcc_threads, 0, ""));
  rows.push_back(row("keep_going", settings.keep_going));
  rows.push_back(row("strict", settings.strict));
  rows.push_back(row("json", settings.json));
  rows.push_back(row("debug", settings.debug));
  rows.push_back(row("allow_disjoint_archs", settings.allow_disjoint_archs));
  rows.push_back(row("drop_unsupported_archs", settings.drop_unsupported_archs));
  rows.push_back(row("offline", settings.offline));
  rows.push_back(row("annotations", settings.annotations));
  rows.push_back(row("color", settings.color));
  rows.push_back(row("compress_mode", settings.compress_mode));
  rows.push_back(row("pch", settings.precompile));
  rows.push_back(row("backend", settings.backend));
  rows.push_back(row("verify_against_nvcc", settings.verify_against_nvcc));
  rows.push_back(row("cache_dir", settings.store));
  rows.push_back({"cache_size", human_size(settings.store_size.value), settings.store_size.origin});
  rows.push_back(row("accelerator", settings.accelerator));
  rows.push_back(row("debug_cuda_build", settings.debug_cuda_build));
  rows.push_back(row("build_string", settings.build_string));
  rows.push_back(row("python", settings.python));
  rows.push_back(row("cpu_baseline", settings.cpu_baseline));
  rows.push_back(row("skip_cuda_check", settings.skip_cuda_check));
  rows.push_back(row("nvcc_prepend_flags", settings.nvcc_prepend_flags));
  rows.push_back(row("nvcc_append_flags", settings.nvcc_append_flags));
  rows.push_back(row("cflags", settings.cflags));
  rows.push_back(row("ldflags", settings.ldflags));
  rows.push_back(number_row("lock_timeout", settings.lock_timeout, -1, "wait for ever"));
  return rows;
}

}  // namespace dsbuild
