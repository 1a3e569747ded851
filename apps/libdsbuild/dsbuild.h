// libdsbuild: gives a C or C++ program the path of an op's library that runs on this machine. The library is
// prebuilt if one fits, else it is built now. docs/guides/c.md shows how to use and link it.
//
// It starts the program `dsbuild load [PACK/]OP --json` and reads its answer, so a build never happens in the
// calling process. The process keeps its environment, working folder, signal handlers and masks, threads and
// descriptors. The library starts one child process and waits for its end; a handler of SIGCHLD sees it.
//
// Threads: all functions may be called from any thread at any time. If several threads ask for the same op,
// one starts the program and the others wait for its answer. A child that fork() made may call them too,
// whatever its parent's threads were doing. The child has the ops that were loaded before the fork.
//
// New members come only at the ends of structs, whose `size` tells which members exist. A library of this
// SONAME never removes or moves a member.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// The options of a call. Initialise them with DSBUILD_LOAD_OPTIONS, so that members of later versions are
// NULL: `struct dsbuild_load_options options = DSBUILD_LOAD_OPTIONS;`. The library keeps no pointer to them
// after the call.
struct dsbuild_load_options {
  size_t size;       // sizeof(struct dsbuild_load_options)
  const char* path;  // --path: a bundle, or one of its libraries, to look at first; NULL: none
  // --gpu: the compute capabilities of the GPUs, "8.6,9.0". NULL: if this process has initialised CUDA, the
  // devices that it sees; else those that CUDA shows to the program in this environment. This library never
  // loads or initialises CUDA.
  const char* gpus;
  const char* const* arguments;  // more words for `dsbuild load` ("--arch", "9.0", NULL); NULL: none
  // The program dsbuild. NULL: the program that the variable DSBUILD_PROGRAM names, else bin/dsbuild of this
  // library's installation, else dsbuild on PATH.
  const char* program;
  // Called in the calling thread with each line of the program's stderr, without its newline: progress, or
  // why a prebuilt library was not used. It must not throw, leave by longjmp, or call this library. NULL: the
  // program writes these lines to this process's stderr.
  void (*on_message)(const char* line, void* context);
  void* context;  // argument for on_message
};
#define DSBUILD_LOAD_OPTIONS {sizeof(struct dsbuild_load_options), NULL, NULL, NULL, NULL, NULL, NULL}

// How a GPU runs the op.
struct dsbuild_coverage {
  const char* gpu;   // its compute capability: "9.0"
  const char* runs;  // "native" (machine code) or "ptx"
  const char* by;    // the image that runs: "sm_90"
  int module;        // index of the library's module (translation unit with device code) that decides, from 0
};

// An op that runs on this machine. Lists end with NULL; texts are UTF-8 and never NULL. The library owns it
// and never frees or changes it, so any thread may keep and read it.
struct dsbuild_op {
  size_t size;       // sizeof(struct dsbuild_op) in the library; members beyond it do not exist
  const char* name;  // without its pack: "fused_adam"
  const char* pack;
  const char* path;            // of the library, absolute
  const char* module;          // the module's name for a Python extension; else ""
  const char* from;            // "--path", "DSBUILD_BUNDLE" or "built"
  const char* const* archs;    // of the library: "8.0", "9.0+PTX", "9.0-virtual"
  const char* const* exports;  // its functions, as symbols for dlsym
  // For each GPU, or once for each kind of GPU; empty for host code.
  const struct dsbuild_coverage* const* coverage;
  const char* const* passed_over;  // one sentence for each prebuilt library that does not fit
  int edges_run;                   // number of edges that a build ran for it; 0: none
};

// An error, with the program's texts (docs/reference/messages.md). Texts are never NULL.
struct dsbuild_error {
  size_t size;
  int exit;           // the function's return value: an exit code of docs/reference/cli.md
  const char* code;   // for machines: "no_gpu"
  const char* where;  // an option, a variable or a path; may be ""
  const char* what;
  const char* fix;  // what to do about it; may have several lines or be ""
};

// Loads the op `name`, "fused_adam" (in pack native) or "deepspeed/fused_adam". Sets *op and returns 0.
// `options` may be NULL. A second call with equal arguments returns the same object without I/O, within a
// microsecond.
//
// On failure it returns an exit code of docs/reference/cli.md: 1 a compiler or a file failed, 2 wrong
// arguments, 3 the op cannot run or be built here (no GPU, no toolkit, DSBUILD_JIT=0), 70 a fault of dsbuild,
// 128 + n ended by signal n (Ctrl-C reaches the program too). Then *op is NULL, and *error describes the
// failure; free it with dsbuild_free_error. `error` may be NULL.
//
// Errors: those of `dsbuild load`; `bad_option` (no name, or options that this library does not know),
// `no_program` (dsbuild was not found), `cannot_start`, `program_failed` (dsbuild ended without an answer),
// `out_of_memory`.
int dsbuild_load_op(const char* name, const struct dsbuild_load_options* options,
                    const struct dsbuild_op** op, struct dsbuild_error** error);

// The same, and opens the library: sets *handle, for dlsym, by dlopen(op->path, RTLD_NOW | RTLD_LOCAL). Do
// not close it. `op` may be NULL. Further error: exit 1 `cannot_open` if something that the library needs is
// missing. Python extensions need torch to be loaded before them.
int dsbuild_open_op(const char* name, const struct dsbuild_load_options* options, void** handle,
                    const struct dsbuild_op** op, struct dsbuild_error** error);

// NULL is allowed.
void dsbuild_free_error(struct dsbuild_error* error);

#ifdef __cplusplus
}
#endif
