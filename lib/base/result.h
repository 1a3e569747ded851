// Result and Error: how every stage reports failure. No exceptions cross a stage.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/message_code.h"

namespace dsbuild {

// The program's exit codes (docs/reference/cli.md).
enum class Exit {
  done = 0,       // what was asked for is there
  failed = 1,     // a step failed: compile, link, verify, or writing
  usage = 2,      // bad option, variable, config file or op.yaml
  unmet = 3,      // the request cannot be met: archs, requirements, no toolkit, nothing to build
  internal = 70,  // a fault of dsbuild itself
  locked = 75,    // --lock-timeout ran out
};

// One message of the program: where it is, what is wrong, how to fix it.
// `code` is one of lib/base/message_code.h, for machines (`unknown_arch`); `where` is file:line:column,
// an option (`--arch`), a variable (`DS_BUILD_OPS`) or a path. `what` and `fix` are sentences
// without a final newline; `fix` may hold several lines and may be empty.
struct Message {
  std::string code;
  std::string where;
  std::string what;
  std::string fix;
  bool operator==(const Message&) const = default;
};

struct Error : Message {
  Exit exit = Exit::internal;
  std::vector<Message> others = {};  // more that is wrong with the same text (mistakes.h)
  bool operator==(const Error&) const = default;
};

// A warning is data in the value that a stage returns; report prints it once.
struct Warning : Message {
  bool operator==(const Warning&) const = default;
};

template <class T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline Error make_error(Exit exit, MessageCode code, std::string where, std::string what,
                                      std::string fix = {}) {
  return {{std::string(code.text()), std::move(where), std::move(what), std::move(fix)}, exit, {}};
}

[[nodiscard]] inline tl::unexpected<Error> fail(Exit exit, MessageCode code, std::string where,
                                                std::string what, std::string fix = {}) {
  return tl::unexpected<Error>(make_error(exit, code, std::move(where), std::move(what), std::move(fix)));
}

[[nodiscard]] inline Warning warning(MessageCode code, std::string where, std::string what,
                                     std::string fix = {}) {
  return Warning{{std::string(code.text()), std::move(where), std::move(what), std::move(fix)}};
}

inline void append(std::vector<Warning>& to, const std::vector<Warning>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace dsbuild

// DSBUILD_TRY(name, expression) defines `name` as the value of a Result or returns its error.
// DSBUILD_CHECK(expression) is the same for a Result whose value is not needed.
#define DSBUILD_TRY_JOIN2(a, b) a##b
#define DSBUILD_TRY_JOIN(a, b) DSBUILD_TRY_JOIN2(a, b)
#define DSBUILD_TRY_AS(temporary, name, ...)                                             \
  auto temporary = (__VA_ARGS__);                                                        \
  if (!temporary) return tl::unexpected<::dsbuild::Error>(std::move(temporary.error())); \
  auto name = std::move(*temporary)
#define DSBUILD_TRY(name, ...) DSBUILD_TRY_AS(DSBUILD_TRY_JOIN(dsbuild_try_, __LINE__), name, __VA_ARGS__)
#define DSBUILD_CHECK(...)                                                         \
  do {                                                                             \
    if (auto dsbuild_checked = (__VA_ARGS__); !dsbuild_checked)                    \
      return tl::unexpected<::dsbuild::Error>(std::move(dsbuild_checked.error())); \
  } while (false)
