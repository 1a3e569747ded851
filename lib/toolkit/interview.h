// Asks a compiler which parts it has. Private to lib/toolkit.
#pragma once

#include "sys/fact_store.h"
#include "toolkit/tool_answers.h"

namespace dsbuild {

struct Interview {
  std::string name;  // among facts: "g++", "nvcc with g++"
  Path program;
  std::vector<Args> questions;  // whole command lines
  FactBasis basis;              // of its answers: basis_of_answers
  bool is_wrapper = false;      // it is asked each time, because it may start a different compiler now
};

struct CompilerAnswers {
  std::vector<std::string> answers;  // in the order of the questions
  Paths configuration;               // configuration_files of them
  std::string text;  // of a wrapper "<sha256> answer of <program> to <question>", a line each: that is what
                     // it is; of others ""
};

// Asks all that it does not know at once. A known answer counts for as long as the questions, the variables
// that are handed on and the configuration files are the same, too. Answers of clang count on this machine
// alone: it names neither all folders where it looks for a gcc nor the home where it looks for flags. Errors:
// `tool_does_not_answer`.
Result<CompilerAnswers> interview(const Interview& questions, const Environment& environment, System& system,
                                  FactStore& facts);

}  // namespace dsbuild
