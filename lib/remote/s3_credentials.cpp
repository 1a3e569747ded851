#include "remote/s3_credentials.h"

#include "remote/s3_credential_sources.h"
#include "remote/utc_time.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

using KeyState = AwsCredentials::State;

// Before keys expire, new ones are asked for: a request that is on its way needs them for as long.
constexpr int64_t k_keys_early_seconds = 300;
constexpr int64_t k_seconds_between_asks = 10;

bool is_fresh(const AwsCredentials& known, int64_t now) {
  return known.state == KeyState::none || !known.expires || *known.expires - k_keys_early_seconds > now;
}

bool is_valid(const AwsCredentials& known, int64_t now) {
  return known.state == KeyState::found && (!known.expires || *known.expires > now);
}

}  // namespace

AwsCredentialChain::AwsCredentialChain(AwsCredentialOptions options, const FileReader& files)
    : sources_(std::make_unique<AwsCredentialSources>(std::move(options), files)) {}

AwsCredentialChain::~AwsCredentialChain() = default;

AwsCredentials AwsCredentialChain::find(const std::optional<AwsKeys>& rejected) {
  const std::lock_guard lock(mutex_);
  const int64_t now = unix_seconds();
  if (known_ && rejected && known_->keys == *rejected && known_->state == KeyState::found) known_.reset();
  if (known_ && is_fresh(*known_, now) && known_->state <= KeyState::none) return *known_;
  if (known_ && now < next_try_) return *known_;
  AwsCredentials found = sources_->ask();
  if (found.state == KeyState::found) {
    known_ = std::move(found);
    // Keys that live for less than is kept in hand are asked for again before each request, but not more
    // often than every second.
    next_try_ = now + 1;
    return *known_;
  }
  next_try_ = now + k_seconds_between_asks;
  if (!known_ || !is_valid(*known_, now)) known_ = std::move(found);
  return *known_;
}

void AwsCredentialChain::cancel() {
  sources_->cancel();
}

}  // namespace dsbuild
