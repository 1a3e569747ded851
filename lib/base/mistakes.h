// Mistakes of one text that do not rest on each other are said in one run.
#pragma once

#include <algorithm>
#include <optional>

#include "base/result.h"

namespace dsbuild {

class Mistakes {
 public:
  bool none() const { return !first_; }

  // Whether there was none.
  bool check(const Result<void>& result) {
    if (!result) add(result.error());
    return result.has_value();
  }
  // `into` stays as it is where there was a mistake.
  template <class T>
  bool take(Result<T> result, T& into) {
    if (!result)
      add(result.error());
    else
      into = std::move(*result);
    return result.has_value();
  }
  // The first mistake, which has the others.
  Result<void> result() const {
    if (first_) return tl::unexpected<Error>(*first_);
    return {};
  }

 private:
  // Defaults of a pack are read for each of its ops; a mistake in them is told once.
  void add(const Error& error) {
    if (!first_) {
      first_ = error;
      return;
    }
    add_other(error);
    for (const Message& other : error.others)
      add_other(other);
  }
  void add_other(const Message& message) {
    if (message != *first_ && std::ranges::find(first_->others, message) == first_->others.end())
      first_->others.push_back(message);
  }

  std::optional<Error> first_;
};

}  // namespace dsbuild
