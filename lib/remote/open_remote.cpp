#include "remote/open_remote.h"

#include "remote/folder_store.h"
#include "remote/http_store.h"

namespace dsbuild {
namespace {

constexpr const char* k_folder = "file://";

Error bad_url(const Settings& settings, const std::string& what) {
  return make_error(Exit::usage, "bad_remote_url", settings.remote.origin, what,
                    "Name a folder (file:///mnt/cache) or a server (https://cache.example.org/dsbuild).");
}

bool is_folder(const std::string& url) {
  return url.starts_with(k_folder);
}

bool uploads(const Settings& settings) {
  const bool by_itself = is_folder(settings.remote.value) || !settings.remote_credentials.value.empty();
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

Result<std::unique_ptr<RemoteStore>> open_server(const Settings& settings, const FileReader& files) {
  HttpOptions options;
  options.url = settings.remote.value;
  options.ca_file = settings.remote_ca.value;
  if (options.ca_file.empty()) options.ca_file = settings.variable("SSL_CERT_FILE");
  DSBUILD_TRY(secret, authorization(settings, files));
  options.authorization = std::move(secret);
  return open_http_store(std::move(options), files);
}

Result<std::unique_ptr<RemoteStore>> open_store(const Settings& settings, System& system) {
  const std::string& url = settings.remote.value;
  if (is_folder(url))
    return open_folder_store(system.files, url.substr(std::string_view(k_folder).size()), !uploads(settings));
  if (url.starts_with("http://") || url.starts_with("https://")) return open_server(settings, system.files);
  return tl::unexpected<Error>(bad_url(settings, "'" + printable(url) + "' is of no scheme that is known"));
}

}  // namespace

Result<std::shared_ptr<RemoteMirror>> open_remote(const Settings& settings, System& system) {
  if (settings.remote.value.empty()) return std::shared_ptr<RemoteMirror>();
  DSBUILD_TRY(store, open_store(settings, system));
  if (settings.store_size.value == 0) return std::shared_ptr<RemoteMirror>();
  MirrorOptions options{settings.remote_scope.value, uploads(settings)};
  return std::make_shared<RemoteMirror>(std::move(store), system.files,
                                        system.files.absolute(settings.store.value), std::move(options));
}

}  // namespace dsbuild
