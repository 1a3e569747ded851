// A program of its own that loads an op and finds its functions: load_an_op [PACK/]OP
// c++ -o load_an_op load_an_op.cpp $(pkg-config --cflags --libs dsbuild) -ldl
#include <dlfcn.h>
#include <dsbuild.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  dsbuild_load_options options = DSBUILD_LOAD_OPTIONS;
  options.on_message = [](const char* line, void*) { std::printf("| %s\n", line); };

  void* library = nullptr;
  const dsbuild_op* op = nullptr;
  dsbuild_error* error = nullptr;
  if (const int exit = dsbuild_open_op(argv[1], &options, &library, &op, &error)) {
    std::printf("%s: %s\n%s\n", error->code, error->what, error->fix);
    dsbuild_free_error(error);
    return exit;
  }
  std::printf("%s (%s)\n", op->path, op->from);
  for (auto* gpu = op->coverage; *gpu; ++gpu)
    std::printf("GPU %s: %s by %s\n", (*gpu)->gpu, (*gpu)->runs, (*gpu)->by);
  for (auto* function = op->exports; *function; ++function)
    std::printf("%s is %s\n", *function, dlsym(library, *function) ? "there" : "missing");
}
