#include "remote/aws_profile.h"

#include "base/text.h"

namespace dsbuild {
namespace {

// "" where a section of this file is no profile.
std::string profile_of(const std::string& section, bool is_config) {
  if (!is_config) return section;
  const std::vector<std::string> words = shell_split(section);
  if (words.size() == 2 && words[0] == "profile") return words[1];
  return section == "default" ? section : "";
}

void add_profiles(std::string_view text, bool is_config, AwsProfiles& profiles) {
  std::string profile;
  for (const std::string& line : split_lines(text)) {
    if (line.empty() || std::string_view(" \t#;").find(line[0]) != std::string_view::npos) continue;
    if (line[0] == '[') {
      profile = profile_of(trim(line.substr(1, line.find(']') - 1)), is_config);
      if (!profile.empty()) profiles[profile];
      continue;
    }
    const size_t end = line.find_first_of("=:");
    if (!profile.empty() && end != std::string::npos)
      profiles[profile][to_lower(trim(line.substr(0, end)))] = trim(line.substr(end + 1));
  }
}

std::string path_of(const VariableLookup& variable, const char* name, const std::string& otherwise) {
  const std::string home = variable("HOME");
  std::string path = variable(name);
  if (path.starts_with("~/")) path = home + path.substr(1);
  return path.empty() && !home.empty() ? home + otherwise : path;
}

std::string text_of(const std::string& path, const FileReader& files) {
  return path.empty() ? "" : files.read_file(path).value_or("");
}

}  // namespace

AwsProfiles parse_aws_profiles(std::string_view config, std::string_view credentials) {
  AwsProfiles profiles;
  add_profiles(config, true, profiles);
  add_profiles(credentials, false, profiles);
  return profiles;
}

std::string value_of(const AwsProfile& profile, const std::string& name) {
  const auto found = profile.find(name);
  return found == profile.end() ? "" : found->second;
}

AwsProfileFiles aws_profile_files(const VariableLookup& variable) {
  return {path_of(variable, "AWS_CONFIG_FILE", "/.aws/config"),
          path_of(variable, "AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials")};
}

AwsProfiles read_aws_profiles(const AwsProfileFiles& paths, const FileReader& files) {
  return parse_aws_profiles(text_of(paths.config, files), text_of(paths.credentials, files));
}

std::string aws_profile_name(const VariableLookup& variable) {
  const std::string named = variable("AWS_PROFILE");
  return named.empty() ? "default" : named;
}

VariableLookup with_region_of_profile(VariableLookup variable, const FileReader& files) {
  const AwsProfiles profiles = read_aws_profiles(aws_profile_files(variable), files);
  const auto profile = profiles.find(aws_profile_name(variable));
  const std::string region = profile == profiles.end() ? "" : value_of(profile->second, "region");
  return [variable = std::move(variable), region](const std::string& name) {
    const std::string value = variable(name);
    return value.empty() && name == "AWS_DEFAULT_REGION" ? region : value;
  };
}

}  // namespace dsbuild
