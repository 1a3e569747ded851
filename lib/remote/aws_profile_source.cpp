// Keys that a profile of AWS leads to. The order is botocore's: a role with a source, a web identity, keys of
// its own, a program.
#include "base/digest.h"
#include "base/json.h"
#include "remote/aws_profile.h"
#include "remote/s3_credential_sources.h"
#include "remote/utc_time.h"
#include "sys/clock.h"

namespace dsbuild {
namespace {

using KeyState = AwsCredentials::State;

AwsCredentials refused(const std::string& profile, const std::string& why) {
  return {.state = KeyState::refused, .why = "AWS profile '" + visible(profile) + "': " + visible(why)};
}

bool has_keys(const AwsProfile& profile) {
  return !value_of(profile, "aws_access_key_id").empty() &&
         !value_of(profile, "aws_secret_access_key").empty();
}

bool has_role(const AwsProfile& profile) {
  return !value_of(profile, "role_arn").empty() && value_of(profile, "web_identity_token_file").empty();
}

}  // namespace

AwsCredentialSources::Found AwsCredentialSources::from_profile() {
  const VariableLookup& variables = options_.variable;
  const AwsProfileFiles paths = aws_profile_files(variables);
  const AwsProfiles profiles = read_aws_profiles(paths, files_);
  const std::string name = aws_profile_name(variables);
  if (!profiles.contains(name)) {
    if (variable("AWS_PROFILE").empty()) return std::nullopt;
    return refused(name, "it is neither in " + paths.config + " nor in " + paths.credentials);
  }
  std::set<std::string> visited;
  return keys_of_profile(profiles, name, visited);
}

AwsCredentialSources::Found AwsCredentialSources::keys_of_profile(const AwsProfiles& profiles,
                                                                  const std::string& name,
                                                                  std::set<std::string>& visited) {
  const AwsProfile& profile = profiles.at(name);
  const bool is_again = !visited.insert(name).second;
  // A profile may be its own source where it has keys, and the source of others by these.
  if (has_role(profile) && !is_again && (visited.size() == 1 || !has_keys(profile)))
    return keys_of_role(profiles, name, visited);
  if (is_again && !has_keys(profile)) return refused(name, "its source_profile leads back to it");
  const std::string token_file = value_of(profile, "web_identity_token_file");
  if (!token_file.empty()) {
    if (value_of(profile, "role_arn").empty())
      return refused(name, "it has no role_arn for its web identity");
    return keys_of_web_identity(token_file, value_of(profile, "role_arn"),
                                value_of(profile, "role_session_name"));
  }
  if (has_keys(profile))
    return AwsCredentials{KeyState::found,
                          {value_of(profile, "aws_access_key_id"), value_of(profile, "aws_secret_access_key"),
                           value_of(profile, "aws_session_token")},
                          {},
                          {}};
  for (const char* key : {"aws_access_key_id", "aws_secret_access_key"})
    if (!value_of(profile, key).empty())
      return refused(name, "it has no aws_access_key_id with an aws_secret_access_key");
  if (const std::string command = value_of(profile, "credential_process"); !command.empty())
    return keys_of_program(name, command);
  if (!value_of(profile, "sso_session").empty() || !value_of(profile, "sso_start_url").empty())
    return refused(name,
                   "its keys come by SSO: run `aws configure export-credentials --profile NAME "
                   "--format env` first");
  return std::nullopt;
}

AwsCredentials AwsCredentialSources::keys_of_role(const AwsProfiles& profiles, const std::string& name,
                                                  std::set<std::string>& visited) {
  const AwsProfile& profile = profiles.at(name);
  const std::string source = value_of(profile, "source_profile"),
                    place = value_of(profile, "credential_source");
  if (source.empty() == place.empty())
    return refused(name, "a role_arn needs a source_profile or a credential_source, and not both");
  if (!value_of(profile, "mfa_serial").empty()) return refused(name, "its mfa_serial asks for a code");
  Found keys;
  if (!source.empty()) {
    if (!profiles.contains(source)) return refused(name, "there is no source_profile '" + source + "'");
    keys = keys_of_profile(profiles, source, visited);
  } else if (place == "Environment") {
    keys = from_variables();
  } else if (place == "EcsContainer") {
    keys = from_container();
  } else if (place == "Ec2InstanceMetadata") {
    keys = from_instance();
  } else {
    return refused(name, "its credential_source is none of Environment, EcsContainer, Ec2InstanceMetadata");
  }
  if (!keys) return refused(name, "its source has no keys");
  if (keys->state != KeyState::found) return std::move(*keys);
  std::vector<std::pair<std::string, std::string>> fields = {{"RoleArn", value_of(profile, "role_arn")}};
  for (const auto& [key, field] :
       {std::pair("external_id", "ExternalId"), {"duration_seconds", "DurationSeconds"}})
    if (const std::string value = value_of(profile, key); !value.empty()) fields.emplace_back(field, value);
  return ask_sts("AssumeRole", value_of(profile, "role_session_name"), std::move(fields), keys->keys);
}

// The protocol: {"Version": 1, "AccessKeyId": …, "SecretAccessKey": …, "SessionToken": …, "Expiration": …}.
AwsCredentials AwsCredentialSources::keys_of_program(const std::string& name, const std::string& command) {
  const auto run = options_.run ? options_.run(shell_split(command))
                                : fail(Exit::failed, "bad_remote_url", command, "no program can be run here");
  if (!run) return refused(name, "credential_process: " + run.error().what);
  const auto document = Json::parse(*run);
  const Json* const version = document ? document->find("Version") : nullptr;
  if (!version || version->number() != 1)
    return refused(name, "the answer of its credential_process has no \"Version\": 1");
  const auto text = [&](const char* key) {
    const Json* const found = document->find(key);
    return found && found->text() ? *found->text() : std::string();
  };
  AwsKeys keys{text("AccessKeyId"), text("SecretAccessKey"), text("SessionToken")};
  if (keys.id.empty() || keys.secret.empty())
    return refused(name, "the answer of its credential_process has no keys");
  return {KeyState::found, std::move(keys), read_iso_time(text("Expiration")), {}};
}

}  // namespace dsbuild
