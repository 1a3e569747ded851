// The sources of keys for AWS, tried one after the other. Private to this stage.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <set>

#include "remote/aws_profile.h"
#include "remote/s3_credentials.h"

namespace dsbuild {

class AwsCredentialSources {
 public:
  AwsCredentialSources(AwsCredentialOptions options, const FileReader& files)
      : options_(std::move(options)), files_(files) {}

  // The first source that is configured decides. May be called from one thread at a time.
  AwsCredentials ask();
  // May be called from any thread.
  void cancel();

 private:
  using Milliseconds = std::chrono::milliseconds;
  // nullopt: this source is not configured.
  using Found = std::optional<AwsCredentials>;
  AwsCredentials first_found();
  Found from_variables() const;
  Found from_web_identity();
  Found from_profile();
  Found keys_of_profile(const AwsProfiles& profiles, const std::string& name, std::set<std::string>& visited);
  AwsCredentials keys_of_role(const AwsProfiles& profiles, const std::string& name,
                              std::set<std::string>& visited);
  AwsCredentials keys_of_program(const std::string& name, const std::string& command);
  AwsCredentials keys_of_web_identity(const std::string& file, const std::string& role,
                                      const std::string& session);
  AwsCredentials ask_sts(const std::string& action, const std::string& session,
                         std::vector<std::pair<std::string, std::string>> fields, const AwsKeys& keys);
  Found from_container();
  Found from_instance();

  std::string variable(const std::string& name) const { return options_.variable(name); }
  enum class Proxy { as_set, none };  // `none` for services on this machine or its link
  HttpResponse send(const HttpRequest& request, Milliseconds deadline, Proxy proxy);
  // The one word in a file. Error: the file cannot be read, or is not one word.
  Result<std::string> read_token(const std::string& file) const;

  const AwsCredentialOptions options_;
  const FileReader& files_;
  std::mutex mutex_;  // guards the following
  std::shared_ptr<HttpClient> client_;
  bool is_cancelled_ = false;
};

}  // namespace dsbuild
