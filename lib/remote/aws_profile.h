// Profiles of AWS: ~/.aws/config has sections [default] and [profile NAME], ~/.aws/credentials has [NAME].
// Values of the latter count more. Private to this stage.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "remote/s3_url.h"
#include "sys/file_system.h"

namespace dsbuild {

using AwsProfile = std::map<std::string, std::string>;  // names in lower case
using AwsProfiles = std::map<std::string, AwsProfile>;

// Pure. Lines that are indented belong to the setting above, and say nothing here.
AwsProfiles parse_aws_profiles(std::string_view config, std::string_view credentials);
// "": it is not set.
std::string value_of(const AwsProfile& profile, const std::string& name);

// AWS_CONFIG_FILE, AWS_SHARED_CREDENTIALS_FILE, HOME. Files that cannot be read are empty.
struct AwsProfileFiles {
  std::string config, credentials;  // paths; "": none
};
AwsProfileFiles aws_profile_files(const VariableLookup& variable);
AwsProfiles read_aws_profiles(const AwsProfileFiles& paths, const FileReader& files);

// AWS_PROFILE, or "default".
std::string aws_profile_name(const VariableLookup& variable);
// The variable, or for AWS_DEFAULT_REGION the region of the profile.
VariableLookup with_region_of_profile(VariableLookup variable, const FileReader& files);

}  // namespace dsbuild
