// Finds the keys for S3. The sources and their order are those of the AWS SDKs:
//   1. AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN
//   2. AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN, by AssumeRoleWithWebIdentity of STS
//   3. the profile AWS_PROFILE of ~/.aws/config and ~/.aws/credentials: a role with a source, a web identity,
//      keys, a program
//   4. AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or AWS_CONTAINER_CREDENTIALS_FULL_URI (ECS, EKS)
//   5. 5. the metadata service of EC2 (IMDSv2), within one second
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "remote/http_client.h"
#include "remote/s3_signature.h"
#include "remote/s3_url.h"

namespace dsbuild {

struct AwsCredentials {
  enum class State {
    found,
    none,     // no source is configured: requests are not signed
    refused,  // a configured source gave none, and its reason is final
    failed,   // a configured source gave none, but may later: its server does not answer
  };
  State state = State::none;
  AwsKeys keys = {};
  std::optional<int64_t> expires = {};  // seconds since the epoch
  std::string why = {};                 // for refused and failed, without secrets
};

struct AwsCredentialOptions {
  VariableLookup variable;
  std::string region;     // for STS
  HttpOptions http = {};  // certificates
  ProgramRunner run = {};
};

class AwsCredentialSources;

class AwsCredentialChain {
 public:
  // `files` must outlive this.
  AwsCredentialChain(AwsCredentialOptions options, const FileReader& files);
  ~AwsCredentialChain();
  // May be called from any thread. Asks the sources at the first call, and again from five minutes before the
  // keys expire; if that fails, the old keys count while they are valid. `rejected`: keys that the server
  // calls expired or unknown, so they are not returned again.
  AwsCredentials find(const std::optional<AwsKeys>& rejected = std::nullopt);
  // Ends the calls of other threads; later ones find no keys.
  void cancel();

 private:
  const std::unique_ptr<AwsCredentialSources> sources_;
  std::mutex mutex_;  // guards the following; held while the sources are asked, so that one thread asks
  std::optional<AwsCredentials> known_;
  int64_t next_try_ = 0;  // seconds since the epoch, after a failure
};

}  // namespace dsbuild
