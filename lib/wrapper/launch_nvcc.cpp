#include "wrapper/launch_nvcc.h"

#include <chrono>
#include <cstdio>

#include "sys/attached_process.h"

namespace dsbuild {
namespace {

using Clock = std::chrono::steady_clock;

// What nvcc said, with its colours and nothing else that a terminal obeys.
void write(std::FILE* stream, std::string_view said) {
  const std::string text = printable(said, Colours::kept);
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

// What of the environment is a setting here: what is for whole builds does not count.
Result<Settings> settings_of(const System& system, const Path& data_dir) {
  Environment environment;
  for (const auto& [name, value] : system.environment) {
    const bool is_of_cache = name == "HOME" || name == "XDG_CACHE_HOME" || name == "DSBUILD_CACHE_DIR" ||
                             name == "DSBUILD_CACHE_SIZE" || name == "SSL_CERT_FILE" ||
                             name.starts_with("DSBUILD_REMOTE") || name.starts_with("AWS_");
    if (is_of_cache) environment.emplace(name, value);
  }
  Arguments arguments;
  arguments.reads_project_file = false;
  const std::string memory = variable(system.environment, "DSBUILD_MEMORY"),
                    jobs = variable(system.environment, "DSBUILD_JOBS");
  if (!memory.empty()) arguments["--memory"] = memory;
  if (!jobs.empty()) arguments["--jobs"] = jobs;
  return load_settings(arguments, environment, system.files, data_dir);
}

class Launch {
 public:
  Launch(NamedNvcc nvcc, System& system, Path data_dir)
      : nvcc_(std::move(nvcc)), system_(system), data_dir_(std::move(data_dir)) {}

  Result<int> run() {
    const Args words = with_flags_of_environment(nvcc_.words, system_.environment);
    auto call = read_nvcc_call(words, [this](const std::string& path) { return read(path); });
    if (!call) return leave(call.error());
    end_.source = call->source;
    end_.why = call->why_whole;
    auto settings = settings_of(system_, data_dir_);
    if (!settings)
      return leave(
          {settings.error().what + " (DSBUILD_MEMORY, DSBUILD_JOBS, DSBUILD_CACHE_SIZE, DSBUILD_REMOTE)",
           true});
    const auto folder = system_.files.real_path(".");
    if (!folder) return leave({"the current folder is not there any more", true});
    const auto kept = make_or_take({std::move(*call), nvcc_, std::move(*settings)}, *folder, system_,
                                   [](std::string_view out, std::string_view err) {
                                     write(stdout, out);
                                     write(stderr, err);
                                   });
    if (!kept) return leave({kept.error().what, true});
    end_.kind = kept->kind;
    end_.is_for_folder_alone = kept->is_for_folder_alone;
    end_.seconds_made = kept->seconds_made;
    log();
    return kept->code;
  }

 private:
  std::optional<std::string> read(const std::string& path) const {
    auto text = system_.files.read_file(path);
    return text ? std::optional(std::move(*text)) : std::nullopt;
  }

  void log() {
    end_.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    log_call(end_, system_);
  }

  // To nvcc, which takes our place. A word of why is for compiles, and for those whom no log tells.
  Result<int> leave(const NotSliced& reason) {
    end_.kind = reason.is_compile ? CallKind::left : CallKind::other;
    end_.why = reason.why;
    log();
    if (reason.is_compile && variable(system_.environment, k_call_log_variable).empty())
      write(stderr, "dsbuild nvcc: left to nvcc: " + visible(reason.why) + "\n");
    Args command = {nvcc_.program.string()};
    command.insert(command.end(), nvcc_.words.begin(), nvcc_.words.end());
    return tl::unexpected<Error>(become({command, system_.environment, {}, {}}));
  }

  const NamedNvcc nvcc_;
  System& system_;
  const Path data_dir_;
  const Clock::time_point begin_ = Clock::now();
  CallEnd end_;
};

}  // namespace

Result<int> launch_nvcc(const Args& words, System& system, const Path& data_dir) {
  DSBUILD_TRY(nvcc, find_nvcc(words, system));
  return Launch(std::move(nvcc), system, data_dir).run();
}

}  // namespace dsbuild
