// Programs for tests, by their names: nvcc, cudafe++, cicc, ptxas and fatbinary of a toolkit tree, and a C++
// compiler. fake_toolkit.py puts them there and says what they do.
#include "tools.h"

int main(int argc, char** argv) {
  const fake::Words words(argv + 1, argv + argc);
  const std::string started = argv[0];
  const std::string program = started.find('/') == std::string::npos ? fake::own_program() : started;
  const std::string name = fake::file_name(program);
  if (fake::is_step(name)) return fake::run_step(name, program, words);
  if (name == "nvcc") return fake::run_nvcc(program, words);
  return fake::run_compiler(words);
}
