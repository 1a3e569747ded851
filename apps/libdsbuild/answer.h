// Converts the program's answer to the structs of the C interface.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "dsbuild.h"
#include "program.h"

namespace dsbuild {

// A dsbuild_op that owns everything that it points to.
class OwnedOp {
 public:
  OwnedOp() = default;
  OwnedOp(const OwnedOp&) = delete;
  OwnedOp& operator=(const OwnedOp&) = delete;

  dsbuild_op value{};
  const char* keep(std::string text);
  const char* const* keep(const std::vector<std::string>& texts);
  const dsbuild_coverage* const* keep(const std::vector<dsbuild_coverage>& rows);

 private:
  std::deque<std::string> texts_;
  std::deque<std::vector<const char*>> lists_;
  std::deque<dsbuild_coverage> rows_;
  std::vector<const dsbuild_coverage*> row_list_;
};

// The op in the program's answer. Errors: the program's own; `program_failed` if its output is no answer,
// with exit 70, or 128 + n if signal n ended it.
Result<std::unique_ptr<OwnedOp>> read_answer(const ProgramAnswer& answer, const std::string& program);

// A new dsbuild_error, which dsbuild_free_error frees.
dsbuild_error* make_c_error(const Error& error);
void free_c_error(dsbuild_error* error);

}  // namespace dsbuild
