// Opens the shared cache that the settings name.
#pragma once

#include <memory>

#include "remote/http_client.h"
#include "remote/mirror.h"
#include "settings/settings.h"
#include "sys/system.h"

namespace dsbuild {

// pulling: no uploads; pushing: MirrorOptions::pushes; offering: MirrorOptions::offers. The last two upload
// unless --remote-upload is `never`.
enum class RemoteUse { sharing, pulling, pushing, offering };

// nullptr: the settings name none, or nothing is cached (--cache-size 0). Sends nothing yet, so a server that
// is not there is no error. Errors: exit 2 `bad_remote_url` for an unknown scheme or a file that cannot be
// read; exit 3 `no_libcurl`; those of entry_keys.
Result<std::shared_ptr<RemoteMirror>> open_remote(const Settings& settings, System& system,
                                                  RemoteUse use = RemoteUse::sharing);

// The options for HTTP requests to the server of `url` (--remote or --remote-exec): certificates, secrets,
// and a new credential helper, which uses `system`. Errors: exit 2 `bad_remote_url`, those of reading.
Result<HttpOptions> server_options(const Settings& settings, const Setting<std::string>& url, System& system);

// A mirror between the settings' local cache and `store`. Errors: those of entry_keys.
Result<std::shared_ptr<RemoteMirror>> mirror_of(std::shared_ptr<RemoteStore> store, const Settings& settings,
                                                System& system, RemoteUse use);

// The key that signs entries, and the trusted keys. Errors: those of reading, exit 2 `bad_remote_key`.
Result<EntryKeys> entry_keys(const Settings& settings, const FileReader& files);

}  // namespace dsbuild
