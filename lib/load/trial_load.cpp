#include "load/trial_load.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <map>

#include "base/json.h"
#include "load/remedies.h"

namespace dsbuild {
namespace {

constexpr std::chrono::seconds k_time_of_one{120};

// Imports the package that opens the libraries, once, and opens each in a fork of itself: a line of JSON for
// each, [how its process ended, what Python said]. What libraries print goes to stderr. A trial that takes
// too long is ended by its alarm.
constexpr const char* k_script = R"(
import importlib.machinery, importlib.util, json, os, signal, sys
kind, tag, seconds, *words = sys.argv[1:]
libraries = list(zip(words[::3], words[1::3], words[2::3]))
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

def give(status, said):
    answers.write(json.dumps([status, said]) + "\n")
    answers.flush()

def said_of(error):
    return f"{type(error).__name__}: {error}".splitlines()[0]

def open_library(library):
    module, needs_torch, path = library
    if kind == "tvm_ffi":
        return tvm_ffi.load_module(path)
    name = module.rpartition(".")[2]
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    try:
        loader.exec_module(importlib.util.module_from_spec(spec))
    except ImportError as error:
        if not needs_torch or "does not define module export function" not in str(error):
            raise  # else it is of TORCH_LIBRARY alone: what it has to do, its constructors have done

def open_in_fork(library):
    mine, its = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(int(seconds))
        said = "opened"
        try:
            open_library(library)
        except BaseException as error:
            said = said_of(error)
        os.write(its, said.encode(errors="replace")[:4000])
        os._exit(0)
    os.close(its)
    said = b""
    while piece := os.read(mine, 65536):
        said += piece
    os.close(mine)
    status = os.waitpid(child, 0)[1]
    give(-os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status), said.decode(errors="replace"))

own_tag = "cp" + "".join(map(str, sys.version_info[:2]))
try:
    if tag and tag.rstrip("t") != own_tag:
        raise ImportError(f"it is built for the Python {tag}, and {sys.executable} is {own_tag}")
    if kind == "torch":
        import torch
    else:
        import tvm_ffi
except BaseException as error:
    for library in libraries:
        give(0, said_of(error))
else:
    for library in libraries:
        open_in_fork(library)
)";

// "ended by SIGSEGV", of what waitpid or a shell says of a process.
std::string how_ended(int status) {
  static const std::map<int, std::string> names = {{SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},
                                                   {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"},
                                                   {SIGKILL, "SIGKILL"}, {SIGSEGV, "SIGSEGV"}};
  const int signal = status < 0 ? -status : status > 128 ? status - 128 : 0;
  if (signal == 0)
    return "its process ended with exit code " + std::to_string(status) + " while it was opened";
  if (signal == SIGALRM) return "it was not opened within " + std::to_string(k_time_of_one.count()) + " s";
  const auto name = names.find(signal);
  return "its process was ended by " +
         (name == names.end() ? "signal " + std::to_string(signal) : name->second) + " while it was opened";
}

std::string crash_remedy(const std::string& why) {
  if (why.find("SIGILL") != std::string::npos)
    return "This CPU lacks what it was compiled for: build it with a lower --cpu-baseline.";
  return "A constructor of the library, or of one that it needs, fails here: run it in a debugger (--debug "
         "keeps "
         "its symbols).";
}

// `said`: what the process said last.
LoadTrial outcome(const ManifestOp& op, const std::string& by, int status, const std::string& said) {
  LoadTrial trial{op.name, by, "", ""};
  if (said == k_opened && status == 0) return trial;
  const bool is_refused = !said.empty() && said != k_opened && status >= 0 && status < 128;
  trial.why = is_refused ? said : how_ended(status);
  trial.fix = is_refused ? remedy_of(said) : crash_remedy(trial.why);
  return trial;
}

Path path_of(const Path& bundle, const ManifestOp& op, const System& system) {
  return system.files.absolute(bundle / op.file);
}

LoadTrial open_by_loader(const Path& library, const ManifestOp& op, System& system) {
  const Command command{
      {system.program.string(), "open-library", library.string()}, system.environment, "/", k_time_of_one};
  const auto run = system.processes.run(command);
  if (!run) return {op.name, "dlopen", run.error().what, run.error().fix};
  if (run->timed_out) return outcome(op, "dlopen", 128 + SIGALRM, "");
  const std::vector<std::string> lines =
      split_lines(trim(printable(run->exit_code == 0 ? run->out : run->err)));
  return outcome(op, "dlopen", run->exit_code, lines.empty() ? "" : lines.back());
}

// [status, what was said] of each library that Python came to.
std::vector<std::pair<int, std::string>> read_answers(const std::string& out) {
  std::vector<std::pair<int, std::string>> answers;
  for (const std::string& line : split_lines(out)) {
    const auto json = Json::parse(line);
    const auto* pair = json ? json->items() : nullptr;
    if (!pair || pair->size() != 2 || !(*pair)[1].text()) continue;
    const auto status = whole_number<int>((*pair)[0].dump());
    answers.emplace_back(status.value_or(1), *(*pair)[1].text());
  }
  return answers;
}

using Ops = std::vector<const ManifestOp*>;

std::vector<LoadTrial> all_fail(const Ops& ops, const std::string& by, const std::string& why,
                                const std::string& fix) {
  std::vector<LoadTrial> trials;
  for (const ManifestOp* op : ops)
    trials.push_back({op->name, by, why, fix});
  return trials;
}

std::vector<LoadTrial> open_by_python(const Path& bundle, const Ops& ops, const std::string& by,
                                      const std::string& tag, const Interpreter& python) {
  System& system = python.system;
  const auto program = python.find();
  if (!program)
    return all_fail(ops, by, "there is no Python " + printable(python.program) + ", which opens it",
                    "Name one: --python.");
  Command command{{program->string(), "-c", k_script, by, tag, std::to_string(k_time_of_one.count())},
                  system.environment,
                  "/",
                  k_time_of_one * static_cast<int>(ops.size() + 1)};
  for (const ManifestOp* op : ops)
    command.argv.insert(command.argv.end(), {op->module, op->runtime && needs_torch(*op->runtime) ? "1" : "",
                                             path_of(bundle, *op, system).string()});
  const auto run = system.processes.run(command);
  if (!run) return all_fail(ops, by, run.error().what, "Name a Python that runs here: --python.");
  const auto answers = read_answers(run->out);
  std::vector<LoadTrial> trials;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (i < answers.size()) {
      trials.push_back(outcome(*ops[i], by, answers[i].first, answers[i].second));
    } else {
      const std::vector<std::string> said = split_lines(trim(printable(run->err)));
      trials.push_back({ops[i]->name, by,
                        python.program + " could not try: exit code " + std::to_string(run->exit_code) +
                            (said.empty() ? "" : ", " + said.back()),
                        "Name a Python that runs here and imports " + by + ": --python."});
    }
  }
  return trials;
}

// What opens an op. Manifests of older versions do not say what a library needs.
std::string opener_of(const ManifestOp& op, const Manifest& manifest) {
  if (manifest.torch && !op.module.empty()) return "torch";
  const bool needs_tvm_ffi =
      op.runtime ? std::ranges::count(op.runtime->libraries, "libtvm_ffi.so") > 0 : !manifest.tvm_ffi.empty();
  return needs_tvm_ffi ? "tvm_ffi" : "dlopen";
}

}  // namespace

std::vector<LoadTrial> try_to_load(const Path& bundle, const Manifest& manifest, const Interpreter& python) {
  std::vector<LoadTrial> trials;
  std::map<std::string, Ops> by_opener;
  for (const ManifestOp& op : manifest.ops)
    by_opener[opener_of(op, manifest)].push_back(&op);
  for (const auto& [by, ops] : by_opener) {
    if (by == "dlopen") {
      for (const ManifestOp* op : ops)
        trials.push_back(open_by_loader(path_of(bundle, *op, python.system), *op, python.system));
      continue;
    }
    const std::string tag = by == "torch" ? manifest.torch->python : "";
    std::ranges::move(open_by_python(bundle, ops, by, tag, python), std::back_inserter(trials));
  }
  std::ranges::sort(trials, {}, &LoadTrial::op);
  return trials;
}

}  // namespace dsbuild
