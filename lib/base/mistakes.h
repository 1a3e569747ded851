// Collects mistakes in one text that do not depend on each other, so that one run reports all.
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
  // `into` stays unchanged if there was a mistake.
  template <class T>
  bool take(Result<T> result, T& into) {
    if (!result)
      add(result.error());
    else
      into = std::move(*result);
    return result.has_value();
  }
  // The first mistake, with the others in Message::others.
  Result<void> result() const {
    if (first_) return tl::unexpected<Error>(*first_);
    return {};
  }

 private:
  // A pack's defaults are read again for each op, but a mistake in them is reported once.
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
