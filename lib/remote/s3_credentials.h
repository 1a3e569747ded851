// Who we are to S3. The places where keys are looked for and their order are those of the AWS SDKs:
//   1. AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN
//   2. AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN, by AssumeRoleWithWebIdentity of STS
//   3. the profile AWS_PROFILE of ~/.aws/config and ~/.aws/credentials: a role with a source, a web identity,
//      keys, a program
//   4. AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or AWS_CONTAINER_CREDENTIALS_FULL_URI (ECS, EKS)
//   5. the metadata service of EC2 (IMDSv2), for one second at most
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
    none,     // no place has any: requests are not signed
    refused,  // a place is configured, and gives none: the reason is its own
    failed,   // likewise, and may give some later: a server that does not answer
  };
  State state = State::none;
  AwsKeys keys = {};
  std::optional<int64_t> expires = {};  // seconds since the epoch
  std::string why = {};                 // of refused and failed, without secrets
};

struct AwsCredentialOptions {
  VariableLookup variable;
  std::string region;     // of STS
  HttpOptions http = {};  // certificates
  ProgramRunner run = {};
};

class AwsCredentialSources;

class AwsCredentialChain {
 public:
  // `files` outlives this.
  AwsCredentialChain(AwsCredentialOptions options, const FileReader& files);
  ~AwsCredentialChain();
  // From any thread. Looked for when it is first called, and again five minutes before they expire; what is
  // still valid is used where that fails. `rejected`: keys that the server calls expired or unknown are not
  // given again.
  AwsCredentials find(const std::optional<AwsKeys>& rejected = std::nullopt);
  // Ends what runs in other threads; what is asked later finds no more.
  void cancel();

 private:
  const std::unique_ptr<AwsCredentialSources> sources_;
  std::mutex mutex_;  // of what follows; held while they are asked for, so that one thread asks
  std::optional<AwsCredentials> known_;
  int64_t next_try_ = 0;  // seconds since the epoch, after a failure
};

}  // namespace dsbuild
