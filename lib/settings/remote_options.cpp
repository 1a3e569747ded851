#include "settings/remote_options.h"

#include "settings/setting_values.h"
#include "settings/values.h"

namespace dsbuild {
namespace {

SettingValue remote_url(Setting<std::string> Settings::* place) {
  SettingValue value = text(place);
  value.show = [place](const std::string& name, const Settings& settings) {
    return row_of(name, settings.*place, without_password((settings.*place).value));
  };
  return value;
}

SettingValue remote_tools() {
  SettingValue value = text(&Settings::remote_tools);
  value.read = [](const RawSetting& given, Settings& settings) -> Result<void> {
    DSBUILD_TRY(tools, parse_remote_tools(given));
    settings.remote_tools = {tools, given.origin};
    return {};
  };
  return value;
}

SettingValue shard() {
  return {[](const RawSetting& given, Settings& settings) -> Result<void> {
            DSBUILD_TRY(choice, parse_shard(given));
            settings.shard = {choice, given.origin};
            return {};
          },
          [](const std::string& name, const Settings& settings) {
            return row_of(name, settings.shard, settings.shard.value.text());
          }};
}

}  // namespace

std::vector<Option> options_of_sharing() {
  return {
      {.names = "--remote",
       .type = "URL",
       .help =
           "A cache that machines share: http(s)://HOST/PATH, reapi(s)://HOST/INSTANCE, s3://BUCKET/PREFIX, "
           "file:///FOLDER [none]",
       .variable = "DSBUILD_REMOTE",
       .setting = "remote",
       .value = remote_url(&Settings::remote)},
      {.names = "--remote-scope",
       .topic = Topic::scope,
       .type = "NAME",
       .help = "Of the shared cache, results of this scope alone",
       .variable = "DSBUILD_REMOTE_SCOPE",
       .setting = "remote_scope",
       .value = text(&Settings::remote_scope)},
      {.names = "--remote-upload",
       .type = "auto|never|always",
       .help = "Whether results go up there [auto: to a folder, or with credentials]",
       .variable = "DSBUILD_REMOTE_UPLOAD",
       .setting = "remote_upload",
       .needs = {"--remote"},
       .value = choice(&Settings::remote_upload, {"auto", "never", "always"})},
      {.names = "--remote-ttl",
       .type = "DAYS",
       .help = "After how many days the shared cache removes files: older than half of it, they are written "
               "again on use [none]",
       .variable = "DSBUILD_REMOTE_TTL",
       .setting = "remote_ttl",
       .needs = {"--remote"},
       .value = number(&Settings::remote_ttl, 1, 0, "none")},
      {.names = "--remote-credentials",
       .type = "FILE",
       .help = "What its Authorization header says [~/.netrc, where it names the host]",
       .variable = "DSBUILD_REMOTE_CREDENTIALS",
       .setting = "remote_credentials",
       .needs = {"--remote", "--remote-exec"},
       .value = text(&Settings::remote_credentials)},
      {.names = "--remote-credential-helper",
       .type = "PROGRAM",
       .help = "Asked for the headers that say who we are, by Bazel's protocol",
       .variable = "DSBUILD_REMOTE_CREDENTIAL_HELPER",
       .setting = "remote_credential_helper",
       .needs = {"--remote", "--remote-exec"},
       .value = text(&Settings::remote_credential_helper)},
      {.names = "--remote-ca",
       .type = "FILE",
       .help = "Certificates that its server's is checked by [the system's]",
       .variable = "DSBUILD_REMOTE_CA",
       .setting = "remote_ca",
       .needs = {"--remote", "--remote-exec"},
       .value = text(&Settings::remote_ca)},
      {.names = "--remote-client-cert",
       .type = "FILE",
       .help = "The certificate that says who we are there, in PEM",
       .variable = "DSBUILD_REMOTE_CLIENT_CERT",
       .setting = "remote_client_cert",
       .needs = {"--remote", "--remote-exec"},
       .value = text(&Settings::remote_client_cert)},
      {.names = "--remote-client-key",
       .type = "FILE",
       .help = "Its key, in PEM [in the file of the certificate]",
       .variable = "DSBUILD_REMOTE_CLIENT_KEY",
       .setting = "remote_client_key",
       .needs = {"--remote", "--remote-exec"},
       .value = text(&Settings::remote_client_key)},
  };
}

std::vector<Option> options_of_trust() {
  return {
      {.names = "--remote-sign",
       .type = "FILE",
       .help = "Sign what goes up there by this private key (PEM)",
       .variable = "DSBUILD_REMOTE_SIGN",
       .setting = "remote_sign",
       .value = text(&Settings::remote_sign)},
      {.names = "--remote-trust",
       .type = "FILES",
       .help = "Of the shared cache, only what one of these public keys signed (PEM)",
       .variable = "DSBUILD_REMOTE_TRUST",
       .setting = "remote_trust",
       .value = words(&Settings::remote_trust, parse_files)},
  };
}

std::vector<Option> options_of_execution() {
  return {
      {.names = "--remote-exec",
       .type = "URL",
       .help = "Run compilers there, by the Remote Execution API: reapi(s)://HOST/INSTANCE [none]",
       .variable = "DSBUILD_REMOTE_EXEC",
       .setting = "remote_exec",
       .value = remote_url(&Settings::remote_exec)},
      {.names = "--remote-jobs",
       .type = "N",
       .help = "How many run there at a time [64]",
       .variable = "DSBUILD_REMOTE_JOBS",
       .setting = "remote_jobs",
       .needs = {"--remote-exec"},
       .value = number(&Settings::remote_jobs, 1, 0, "")},
      {.names = "--remote-tools",
       .type = "upload|worker:DIR",
       .help = "Send our compilers there, or use those of a toolkit that its workers have [upload]",
       .variable = "DSBUILD_REMOTE_TOOLS",
       .setting = "remote_tools",
       .needs = {"--remote-exec"},
       .value = remote_tools()},
      {.names = "--remote-local",
       .type = "auto|never",
       .help = "Whether idle cores here take what waits or is late there [auto]",
       .variable = "DSBUILD_REMOTE_LOCAL",
       .setting = "remote_local",
       .needs = {"--remote-exec"},
       .value = choice(&Settings::remote_local, {"auto", "never"})},
      {.names = "--remote-platform",
       .type = "PROPERTIES",
       .help = "Properties that choose its workers, as in OSFamily=linux,pool=large [none]",
       .variable = "DSBUILD_REMOTE_PLATFORM",
       .setting = "remote_platform",
       .needs = {"--remote-exec"},
       .value = words(&Settings::remote_platform, parse_platform)},
  };
}

std::vector<Option> options_of_shards() {
  return {
      {.names = "--shard",
       .type = "N/OF|merge",
       .help = "Do share N of OF of the compiles, into the shared cache; merge: make the bundle of all",
       .variable = "DSBUILD_SHARD",
       .setting = "shard",
       .value = shard()},
      {.names = "--shard-plan",
       .type = "FILE",
       .help = "The cut into shards: the first shard writes it, others must have the same plan",
       .variable = "DSBUILD_SHARD_PLAN",
       .setting = "shard_plan",
       .value = text(&Settings::shard_plan)},
  };
}

}  // namespace dsbuild
