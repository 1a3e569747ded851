// wrap: whatever a command compiles by nvcc goes through `dsbuild nvcc`.
#include "base/digest.h"
#include "command.h"
#include "remote/open_remote.h"
#include "remote/serve_steps.h"
#include "sys/attached_process.h"
#include "sys/private_folder.h"
#include "wrapper/cached_compile.h"
#include "wrapper/call_tools.h"

namespace dsbuild {
namespace {

void set_unless_there(Environment& environment, const std::string& name, const std::string& value) {
  std::string& variable = environment[name];
  if (variable.empty()) variable = value;
}

// A toolkit like `home`, in links to all that it has, whose nvcc is us. Builds may write down where they
// found it: it stays in the cache folder.
Result<Path> make_shadow(const Path& home, const Settings& settings, const System& system) {
  FileSystem& files = system.files;
  const Path shadow = settings.cache_dir / "wrap" / sha256(home.string()).substr(0, 16);
  DSBUILD_CHECK(files.make_directories(shadow / "bin"));
  for (const char* folder : {"", "bin"}) {
    DSBUILD_TRY(names, files.list(home / folder));
    for (const std::string& name : names) {
      const bool is_own = folder == std::string() ? name == "bin" : name == "nvcc";
      if (!is_own) DSBUILD_CHECK(files.make_symlink(home / folder / name, shadow / folder / name));
    }
  }
  DSBUILD_CHECK(files.make_symlink(system.program, shadow / "bin" / "nvcc"));
  return shadow;
}

// What was typed, in the variables that calls read, wherever they are made.
Environment with_typed_cache(const Arguments& typed, const System& system) {
  Environment environment = system.environment;
  if (const auto folder = typed.find("--cache-dir"))
    environment["DSBUILD_CACHE_DIR"] = system.files.absolute(*folder).string();
  if (const auto size = typed.find("--cache-size")) environment["DSBUILD_CACHE_SIZE"] = *size;
  return environment;
}

// Each build system has its own way to be told of a launcher.
Environment hooked(Environment environment, const System& system, const Settings& settings,
                   const Path& shadow, const Path& nvcc, const Path& log) {
  const std::string dsbuild = system.program.string();
  environment[k_call_log_variable] = log.string();
  environment[k_folder_names_variable] = "any";
  environment["DSBUILD_NVCC"] = nvcc.string();
  if (settings.memory.value > 0) environment["DSBUILD_MEMORY"] = std::to_string(settings.memory.value);
  if (settings.jobs.value > 0) environment["DSBUILD_JOBS"] = std::to_string(settings.jobs.value);
  set_unless_there(environment, "PYTORCH_NVCC", (shadow / "bin" / "nvcc").string());
  set_unless_there(environment, "CUDACXX", nvcc.string());
  set_unless_there(environment, "CMAKE_CUDA_COMPILER_LAUNCHER", dsbuild + ";nvcc");
  set_unless_there(environment, "FLASHINFER_NVCC_LAUNCHER", shell_quote(dsbuild) + " nvcc");
  environment["CUDA_HOME"] = shadow.string();
  environment["PATH"] = (shadow / "bin").string() + ":" + variable(system.environment, "PATH");
  return environment;
}

std::vector<CallEnd> read_log(const Path& log, const FileReader& files) {
  std::vector<CallEnd> calls;
  const auto text = files.read_file(log);
  for (const std::string& line : split_lines(text ? *text : ""))
    if (auto call = parse_call_end(line)) calls.push_back(std::move(*call));
  return calls;
}

// What a wrapped command finds: a toolkit whose nvcc is us, and where each call says how it ended.
struct Wrapping {
  PrivateFolder folder;
  Path shadow;
  Path log() const { return folder.path() / "calls"; }
};

Result<Wrapping> make_wrapping(const NamedNvcc& nvcc, const Settings& settings, const System& system) {
  DSBUILD_TRY(folder, PrivateFolder::make(temporary_parent(settings), system.files));
  DSBUILD_TRY(shadow, make_shadow(nvcc.program.parent_path().parent_path(), settings, system));
  return Wrapping{std::move(folder), std::move(shadow)};
}

// Without a cache there is nothing to take or to keep: the command is run as it would be without us.
Result<int> run_plainly(const std::vector<std::string>& argv, const Error& why, const System& system) {
  print_message("dsbuild wrap: left alone: " + why.where + ": " + why.what +
                " (XDG_CACHE_HOME or HOME names a folder to write to)\n");
  return run_attached({argv, system.environment, {}, {}});
}

void end_sharing(RemoteMirror& remote, const Settings& settings, const CommandContext& context) {
  remote.finish(k_most_seconds_for_uploads);
  const MirrorUses uses = remote.uses();
  if (settings.verbosity >= 0 && !settings.json.value) print_message(render_shared(uses));
  print_warnings(warnings_of(uses), settings, context);
}

Result<int> run_wrap(const CommandContext& context) {
  DSBUILD_TRY(argv, command_to_run(context.line));
  DSBUILD_TRY(request, load_request(context));
  const Settings& settings = request.settings;
  System& system = context.system;
  DSBUILD_TRY(nvcc, find_nvcc({}, system));
  const auto wrapping = make_wrapping(nvcc, settings, system);
  if (!wrapping) return run_plainly(argv, wrapping.error(), system);
  Environment environment = hooked(with_typed_cache(context.line.arguments, system), system, settings,
                                   wrapping->shadow, nvcc.program, wrapping->log());
  DSBUILD_TRY(remote, open_remote(settings, system));
  std::unique_ptr<RequestServer> server;
  if (remote) {
    DSBUILD_TRY(served, serve_steps(remote, environment));
    server = std::move(served);
  }
  DSBUILD_TRY(code, run_attached({argv, environment, {}, {}}));
  if (remote) end_sharing(*remote, settings, context);
  const std::vector<CallEnd> calls = read_log(wrapping->log(), system.files);
  if (settings.verbosity >= 0 && !settings.json.value) print_message(render_calls(calls));
  if (settings.json.value) DSBUILD_CHECK(print_result(render_calls_json(calls, code)));
  return code;
}

}  // namespace

CommandRow wrap_command() {
  return {.name = "wrap",
          .help = "Run a build whose nvcc calls come from the cache or in slices",
          .run = run_wrap,
          .examples = {{"dsbuild wrap -- pip install --no-build-isolation .", "a torch extension, as it is"},
                       {"dsbuild wrap --memory 20G -- cmake --build build", "a CMake project"}},
          .uses = {{"", {Topic::cores, Topic::cache, Topic::cache_size, Topic::shared_cache, Topic::scope}}},
          .operands = Operands{"command", "-- COMMAND", "The command, with its own options"}};
}

}  // namespace dsbuild
