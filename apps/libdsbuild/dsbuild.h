// libdsbuild: an op, by its name, for a C or C++ program: the path of a library of it that runs on this
// machine, prebuilt where one fits, else built on the spot. docs/guides/c.md shows how to use and to link it.
//
// It starts the program `dsbuild load [PACK/]OP --json` and reads its answer, so a build never happens in the
// calling process: its environment, working folder, signal handlers and masks, threads and descriptors stay
// as they are. The only trace is one child process, which is waited for; a handler of SIGCHLD sees it.
//
// Threads: all functions may be called from any thread at any time. Of several threads that ask for the same
// op one starts the program, the others wait for its answer. A child that fork() made may call them too,
// whatever the threads of its parent were doing, and has what was loaded before.
//
// The interface grows at the ends of its structs, which say how large they are; a library of this SONAME
// never removes or moves anything.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// What a call asks for besides the op. Begin with DSBUILD_LOAD_OPTIONS, so that members which come later are
// NULL: `struct dsbuild_load_options options = DSBUILD_LOAD_OPTIONS;`. Nothing in it is kept behind the call.
struct dsbuild_load_options {
  size_t size;       // sizeof(struct dsbuild_load_options)
  const char* path;  // --path: a bundle, or a library of one, that is looked at first; NULL: none
  // --gpu: the GPUs by their compute capabilities, "8.6,9.0". NULL: where this process has initialised CUDA,
  // the devices that it sees; else those that CUDA shows to the program in this environment. CUDA is neither
  // loaded nor initialised here.
  const char* gpus;
  const char* const* arguments;  // more words for `dsbuild load` ("--arch", "9.0", NULL); NULL: none
  // The program dsbuild. NULL: what the variable DSBUILD_PROGRAM names, else bin/dsbuild of the installation
  // that this library is part of, else dsbuild on PATH.
  const char* program;
  // Gets each line that the program has for people (progress, why a prebuilt library was passed over),
  // without its newline, in the calling thread. It must neither throw, jump out nor call this library. NULL:
  // the program writes them to this process's stderr.
  void (*on_message)(const char* line, void* context);
  void* context;  // handed to on_message
};
#define DSBUILD_LOAD_OPTIONS {sizeof(struct dsbuild_load_options), NULL, NULL, NULL, NULL, NULL, NULL}

// How one GPU runs the op.
struct dsbuild_coverage {
  const char* gpu;   // its compute capability: "9.0"
  const char* runs;  // "native" (machine code) or "ptx"
  const char* by;    // the image that runs: "sm_90"
  int module;        // which of the library's files with device code decides, from 0
};

// An op that runs here. Lists end with NULL, texts are UTF-8 and never NULL. Owned by the library and never
// freed or changed: it may be kept and read from any thread.
struct dsbuild_op {
  size_t size;       // sizeof(struct dsbuild_op) of the library: a member beyond it is not there
  const char* name;  // without its pack: "fused_adam"
  const char* pack;
  const char* path;                                // of the library, absolute
  const char* module;                              // of a Python extension, its name; else ""
  const char* from;                                // "--path", "DSBUILD_BUNDLE" or "built"
  const char* const* archs;                        // what the library has: "8.0", "9.0+PTX", "9.0-virtual"
  const char* const* exports;                      // its functions, as symbols for dlsym
  const struct dsbuild_coverage* const* coverage;  // of each GPU, or of each kind once; none for host code
  const char* const* passed_over;                  // prebuilt libraries that do not fit, a sentence each
  int edges_run;                                   // what a build had to run for it; 0: nothing
};

// What went wrong, in the words of the program (docs/reference/messages.md). Texts are never NULL.
struct dsbuild_error {
  size_t size;
  int exit;           // what the function returned: an exit code of docs/reference/cli.md
  const char* code;   // for machines: "no_gpu"
  const char* where;  // an option, a variable or a path; may be ""
  const char* what;
  const char* fix;  // how to mend it, may have several lines or be ""
};

// Loads `name`, "fused_adam" (of the pack native) or "deepspeed/fused_adam": sets *op and returns 0.
// `options` may be NULL. A second call with the same words returns the same object without any I/O, within a
// microsecond.
//
// Else it returns the exit code of docs/reference/cli.md that says what kind of failure it is: 1 a compiler
// or a file failed, 2 wrong words, 3 it cannot be had here (no GPU, no toolkit, DSBUILD_JIT=0), 70 a fault of
// dsbuild, 128 + n ended by signal n (Ctrl-C reaches the program too). *op is then NULL, and *error says
// more: it is to be freed with dsbuild_free_error. `error` may be NULL.
//
// Errors besides those of `dsbuild load`: `bad_option` (no name, or options that this library does not know),
// `no_program` (there is no dsbuild), `cannot_start`, `program_failed` (it ended without an answer),
// `out_of_memory`.
int dsbuild_load_op(const char* name, const struct dsbuild_load_options* options,
                    const struct dsbuild_op** op, struct dsbuild_error** error);

// The same, and opens the library: *handle is for dlsym, of dlopen(op->path, RTLD_NOW | RTLD_LOCAL). It stays
// open: it is not to be closed. `op` may be NULL. Errors besides: exit 1 `cannot_open` (what the library
// needs is not there: Python extensions want torch to be loaded before them).
int dsbuild_open_op(const char* name, const struct dsbuild_load_options* options, void** handle,
                    const struct dsbuild_op** op, struct dsbuild_error** error);

// NULL is allowed.
void dsbuild_free_error(struct dsbuild_error* error);

#ifdef __cplusplus
}
#endif
