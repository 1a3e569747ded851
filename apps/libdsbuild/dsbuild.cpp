// The functions of dsbuild.h.
#include "dsbuild.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "initialised_cuda.h"
#include "loaded_ops.h"
#include "program.h"

namespace dsbuild {
namespace {

// The members that the caller's header knew. Members that it knows and this library does not must not be set.
Result<dsbuild_load_options> known_options(const dsbuild_load_options* given) {
  dsbuild_load_options options = DSBUILD_LOAD_OPTIONS;
  if (given == nullptr) return options;
  const auto* const bytes = reinterpret_cast<const char*>(given);
  const bool is_set_beyond =
      given->size > sizeof options &&
      std::any_of(bytes + sizeof options, bytes + given->size, [](char c) { return c != 0; });
  if (given->size < sizeof given->size || is_set_beyond)
    return fail(Exit::usage, "bad_option", "dsbuild_load_options",
                given->size < sizeof given->size ? "size is not set"
                                                 : "a member is set that this libdsbuild does not know",
                "Begin with DSBUILD_LOAD_OPTIONS of its own dsbuild.h.");
  std::memcpy(&options, given, std::min(given->size, sizeof options));
  return options;
}

// One text for each different call.
std::string key_of(const char* name, const dsbuild_load_options& options) {
  std::string key = name;
  const auto add = [&](char kind, const char* word) {
    if (word != nullptr) key.append(1, '\0').append(1, kind).append(word);
  };
  add('p', options.path);
  add('g', options.gpus);
  add('d', options.program);
  for (const char* const* word = options.arguments; word != nullptr && *word != nullptr; ++word)
    add('a', *word);
  return key;
}

std::vector<std::string> arguments_of(const char* name, const dsbuild_load_options& options) {
  std::vector<std::string> words = {"load", name, "--json"};
  const auto add = [&](const char* option, const std::string& value) {
    words.emplace_back(option);
    words.push_back(value);
  };
  if (options.path != nullptr) add("--path", options.path);
  const std::string gpus = options.gpus != nullptr ? options.gpus : gpus_of_initialised_cuda();
  if (options.gpus != nullptr || !gpus.empty()) add("--gpu", gpus);
  for (const char* const* word = options.arguments; word != nullptr && *word != nullptr; ++word)
    words.emplace_back(*word);
  return words;
}

Result<std::unique_ptr<OwnedOp>> ask_program(const char* name, const dsbuild_load_options& options) {
  DSBUILD_TRY(program, find_dsbuild(options.program));
  ProgramRun run{program, arguments_of(name, options), {}};
  if (options.on_message != nullptr)
    run.on_message = [&](const char* line) { options.on_message(line, options.context); };
  DSBUILD_TRY(answer, run_program(run));
  return read_answer(answer, program);
}

Result<LoadedEntry*> load(const char* name, const dsbuild_load_options* given) {
  if (name == nullptr || *name == '\0' || *name == '-')
    return fail(
        Exit::usage, "bad_option", "dsbuild_load_op",
        name == nullptr || *name == '\0' ? "no op given" : std::string(name) + " is not a name of an op",
        "Name one: \"fused_adam\".");
  DSBUILD_TRY(options, known_options(given));
  const std::string key = key_of(name, options);
  if (LoadedEntry* const known = find_loaded(key)) return known;
  return find_or_load(key, [&] { return ask_program(name, options); });
}

Result<void*> open(LoadedEntry& entry) {
  if (void* const known = entry.handle.load()) return known;
  const char* const path = entry.op->value.path;
  void* const handle = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const reason = ::dlerror();
    return fail(Exit::failed, "cannot_open", path, reason == nullptr ? "dlopen failed" : reason,
                "Load what it needs before it, or name its folder in LD_LIBRARY_PATH.");
  }
  entry.handle.store(handle);
  return handle;
}

// For want of memory there may be none for an error either.
dsbuild_error g_no_memory = {
    sizeof(dsbuild_error),     static_cast<int>(Exit::internal),
    "out_of_memory",           "",
    "there is no memory left", "End other programs, or raise the limit of this one."};

void set_error(dsbuild_error** to, const Error& error) {
  if (to != nullptr) *to = make_c_error(error);
}

// `work` behind the boundary that no exception crosses: its exit code.
template <class Work>
int run_for_c(dsbuild_error** error, const Work& work) {
  if (error != nullptr) *error = nullptr;
  try {
    const Result<void> done = work();
    if (done) return 0;
    set_error(error, done.error());
    return static_cast<int>(done.error().exit);
  } catch (...) {
    if (error != nullptr) *error = &g_no_memory;
    return g_no_memory.exit;
  }
}

}  // namespace
}  // namespace dsbuild

using namespace dsbuild;

int dsbuild_load_op(const char* name, const dsbuild_load_options* options, const dsbuild_op** op,
                    dsbuild_error** error) {
  if (op != nullptr) *op = nullptr;
  return run_for_c(error, [&]() -> Result<void> {
    DSBUILD_TRY(entry, load(name, options));
    if (op != nullptr) *op = &entry->op->value;
    return {};
  });
}

int dsbuild_open_op(const char* name, const dsbuild_load_options* options, void** handle,
                    const dsbuild_op** op, dsbuild_error** error) {
  if (op != nullptr) *op = nullptr;
  if (handle != nullptr) *handle = nullptr;
  return run_for_c(error, [&]() -> Result<void> {
    DSBUILD_TRY(entry, load(name, options));
    DSBUILD_TRY(opened, open(*entry));
    if (op != nullptr) *op = &entry->op->value;
    if (handle != nullptr) *handle = opened;
    return {};
  });
}

void dsbuild_free_error(dsbuild_error* error) {
  if (error != &g_no_memory) free_c_error(error);
}
