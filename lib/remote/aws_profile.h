// Reads the configuration files of AWS: ~/.aws/config has sections [default] and [profile NAME],
// ~/.aws/credentials has [NAME]. Values of the latter take precedence. Private to this stage.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "remote/s3_url.h"
#include "sys/file_system.h"

namespace dsbuild {

using AwsProfile = std::map<std::string, std::string>;  // names in lower case
using AwsProfiles = std::map<std::string, AwsProfile>;

// Pure. Ignores indented lines, which belong to the setting above.
AwsProfiles parse_aws_profiles(std::string_view config, std::string_view credentials);
// "": not set.
std::string value_of(const AwsProfile& profile, const std::string& name);

// The paths by AWS_CONFIG_FILE, AWS_SHARED_CREDENTIALS_FILE and HOME. A file that cannot be read counts as
// empty.
struct AwsProfileFiles {
  std::string config, credentials;  // paths; "": none
};
AwsProfileFiles aws_profile_files(const VariableLookup& variable);
AwsProfiles read_aws_profiles(const AwsProfileFiles& paths, const FileReader& files);

// AWS_PROFILE, or "default".
std::string aws_profile_name(const VariableLookup& variable);
// A look-up that gives AWS_DEFAULT_REGION the profile's region if the variable is not set.
VariableLookup with_region_of_profile(VariableLookup variable, const FileReader& files);

}  // namespace dsbuild
