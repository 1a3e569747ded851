// What the program answers, as the values of the C interface.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "dsbuild.h"
#include "program.h"

namespace dsbuild {

// A dsbuild_op with all that it points to.
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

// The op, or the error that the program says. Errors besides: `program_failed`, where it is no answer: exit
// 70, or 128 + n where a signal ended it.
Result<std::unique_ptr<OwnedOp>> read_answer(const ProgramAnswer& answer, const std::string& program);

// A dsbuild_error of its own, for dsbuild_free_error.
dsbuild_error* make_c_error(const Error& error);
void free_c_error(dsbuild_error* error);

}  // namespace dsbuild
