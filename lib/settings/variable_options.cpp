#include "settings/variable_options.h"

#include "settings/builder.h"
#include "settings/setting_values.h"
#include "settings/values.h"

namespace dsbuild {
namespace {

SettingValue accelerator() {
  SettingValue value = choice(&Settings::accelerator, {"auto", "cuda", "cpu", "xpu"});
  value.read = [](const RawSetting& given, Settings& settings) -> Result<void> {
    DSBUILD_TRY(kind, parse_accelerator(given));
    settings.accelerator = {kind, given.origin};
    return {};
  };
  return value;
}

// Whatever it is.
SettingValue build_string() {
  SettingValue value = text(&Settings::build_string);
  value.read = [](const RawSetting& given, Settings& settings) -> Result<void> {
    settings.build_string = {given.text, given.origin};
    return {};
  };
  return value;
}

}  // namespace

std::vector<Option> variable_options() {
  return {
      {.variable = "DSBUILD_BUNDLE", .setting = "bundle", .value = text(&Settings::bundle)},
      {.variable = "DSBUILD_RECORD", .setting = "record", .value = text(&Settings::record)},
      {.variable = "GITHUB_RUN_ID",
       .read_environment = invocation_of_environment,
       .setting = "invocation",
       .value = unshown(text(&Settings::invocation))},
      {.variable = "DSBUILD_JIT", .setting = "jit", .value = flag(&Settings::jit)},
      {.variable = "DS_NVCC_THREADS",
       .setting = "nvcc_threads",
       .value = number(&Settings::nvcc_threads, 1, 0, "")},
      {.variable = "GITHUB_ACTIONS",
       .setting = "annotations",
       .value = exactly("true", &Settings::annotations)},
  };
}

std::vector<Option> variables_of_bytes() {
  std::vector<Option> rows = {
      {.variable = "DS_ACCELERATOR", .setting = "accelerator", .value = accelerator()},
      {.variable = "DS_SKIP_CUDA_CHECK",
       .setting = "skip_cuda_check",
       .value = exactly("1", &Settings::skip_cuda_check)},
      {.variable = "DS_BUILD_STRING", .setting = "build_string", .value = build_string()},
      {.variable = "NVCC_PREPEND_FLAGS",
       .setting = "nvcc_prepend_flags",
       .value = words(&Settings::nvcc_prepend_flags, parse_nvcc_flags)},
      {.variable = "NVCC_APPEND_FLAGS",
       .setting = "nvcc_append_flags",
       .value = words(&Settings::nvcc_append_flags, parse_nvcc_flags)},
      {.variable = "CFLAGS", .setting = "cflags", .value = words(&Settings::cflags, as_a_shell_does)},
      {.variable = "LDFLAGS", .setting = "ldflags", .value = words(&Settings::ldflags, as_a_shell_does)},
  };
  for (Option& row : rows)
    row.decides_bytes = true;
  return rows;
}

}  // namespace dsbuild
