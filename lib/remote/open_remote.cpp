#include "remote/open_remote.h"

#include "remote/credential_helper.h"
#include "remote/folder_store.h"
#include "remote/http_store.h"
#include "remote/reapi_store.h"
#include "remote/s3_store.h"

namespace dsbuild {
namespace {

constexpr const char* k_folder = "file://";
constexpr int64_t k_day_seconds = 86'400;

Error bad_url(const Settings& settings, const std::string& what) {
  return make_error(Exit::usage, "bad_remote_url", settings.remote.origin, what,
                    "Name a folder (file:///mnt/cache), a server (https://cache.example.org/dsbuild, "
                    "reapis://cache.example.org/main) or a bucket (s3://bucket/dsbuild).");
}

bool is_folder(const std::string& url) {
  return url.starts_with(k_folder);
}

bool is_reapi(const std::string& url) {
  return url.starts_with("reapi://") || url.starts_with("reapis://");
}

bool is_bucket(const std::string& url) {
  return url.starts_with("s3://");
}

// Whether there are keys for a bucket is found out when something is to go up.
bool uploads(const Settings& settings, RemoteUse use) {
  if (use != RemoteUse::sharing)
    return use != RemoteUse::pulling && settings.remote_upload.value != RemoteUpload::never;
  const std::string& url = settings.remote.value;
  const bool is_known = !settings.remote_credentials.value.empty() ||
                        !settings.remote_credential_helper.value.empty() ||
                        !settings.remote_client_cert.value.empty();
  const bool by_itself = is_folder(url) || is_bucket(url) || is_known;
  return settings.remote_upload.value == RemoteUpload::always ||
         (settings.remote_upload.value == RemoteUpload::automatic && by_itself);
}

// The file has what follows "Authorization: ".
Result<std::string> authorization(const Settings& settings, const FileReader& files) {
  const Path& file = settings.remote_credentials.value;
  if (file.empty()) return std::string();
  DSBUILD_TRY(text, files.read_file(file));
  const std::string line = trim(text);
  if (!line.empty() && line.find('\n') == std::string::npos) return line;
  return fail(Exit::usage, "bad_remote_url", file.string(),
              "it is to have one line, as \"Bearer <token>\" or \"Basic <base64>\"",
              "Write into it what the Authorization header of the shared cache says.");
}

// A key without a certificate says nothing; libcurl would ignore it.
Result<HttpOptions> http_options(const Settings& settings, const std::string& url, const FileReader& files) {
  HttpOptions options;
  options.url = url;
  options.ca_file = settings.remote_ca.value;
  options.client_cert = settings.remote_client_cert.value;
  options.client_key = settings.remote_client_key.value;
  for (const Setting<Path>* file : {&settings.remote_client_cert, &settings.remote_client_key})
    if (!file->value.empty()) DSBUILD_CHECK(files.read_file(file->value));
  if (options.client_cert.empty() && !options.client_key.empty())
    return fail(Exit::usage, "bad_remote_url", settings.remote_client_key.origin,
                "it is the key of no certificate", "Give the certificate by --remote-client-cert.");
  return options;
}

Result<std::unique_ptr<RemoteStore>> open_server(const Settings& settings, System& system) {
  DSBUILD_TRY(options, server_options(settings, settings.remote, system));
  return is_reapi(options.url) ? open_reapi_store(std::move(options), system.files)
                               : open_http_store(std::move(options), system.files);
}

Result<std::unique_ptr<RemoteStore>> open_bucket(const Settings& settings, System& system) {
  DSBUILD_TRY(http, http_options(settings, settings.remote.value, system.files));
  return open_s3_store({.url = settings.remote.value,
                        .http = std::move(http),
                        .variable =
                            [variables = settings.variables](const std::string& name) {
                              const auto found = variables.find(name);
                              return found == variables.end() ? "" : found->second;
                            },
                        .run = run_for_secrets(system),
                        .puts_always = settings.remote_upload.value == RemoteUpload::always},
                       system.files);
}

Result<std::unique_ptr<RemoteStore>> open_store(const Settings& settings, System& system, RemoteUse use) {
  const std::string& url = settings.remote.value;
  if (is_folder(url))
    return open_folder_store(make_real_file_system(), url.substr(std::string_view(k_folder).size()),
                             !uploads(settings, use));
  if (url.starts_with("http://") || url.starts_with("https://") || is_reapi(url))
    return open_server(settings, system);
  if (is_bucket(url)) return open_bucket(settings, system);
  return tl::unexpected<Error>(
      bad_url(settings, "'" + printable(without_password(url)) + "' has no known scheme"));
}

}  // namespace

Result<HttpOptions> server_options(const Settings& settings, const Setting<std::string>& url,
                                   System& system) {
  DSBUILD_TRY(options, http_options(settings, url.value, system.files));
  if (options.ca_file.empty()) options.ca_file = settings.variable("SSL_CERT_FILE");
  DSBUILD_TRY(secret, authorization(settings, system.files));
  options.authorization = std::move(secret);
  const std::string& program = settings.remote_credential_helper.value;
  if (!program.empty()) options.helper = std::make_shared<CredentialHelper>(program, system);
  return options;
}

Result<EntryKeys> entry_keys(const Settings& settings, const FileReader& files) {
  EntryKeys keys{std::nullopt, settings.trusted_keys};
  const Path& file = settings.remote_sign.value;
  if (file.empty()) return keys;
  DSBUILD_TRY(own, load_private_key(file, files, "bad_remote_key"));
  keys.own = std::move(own);
  return keys;
}

Result<std::shared_ptr<RemoteMirror>> mirror_of(std::shared_ptr<RemoteStore> store, const Settings& settings,
                                                System& system, RemoteUse use) {
  DSBUILD_TRY(keys, entry_keys(settings, system.files));
  MirrorOptions options{.scope = settings.remote_scope.value,
                        .uploads = uploads(settings, use),
                        .keys = std::move(keys),
                        .ttl_seconds = settings.remote_ttl.value * k_day_seconds,
                        .pushes = use == RemoteUse::pushing,
                        .offers = use == RemoteUse::offering};
  return std::make_shared<RemoteMirror>(
      std::move(store), system.files, system.files.absolute(settings.local_cache.value), std::move(options));
}

Result<std::shared_ptr<RemoteMirror>> open_remote(const Settings& settings, System& system, RemoteUse use) {
  if (settings.remote.value.empty()) return std::shared_ptr<RemoteMirror>();
  DSBUILD_TRY(store, open_store(settings, system, use));
  if (settings.local_cache_size.value == 0) return std::shared_ptr<RemoteMirror>();
  return mirror_of(std::move(store), settings, system, use);
}

}  // namespace dsbuild
