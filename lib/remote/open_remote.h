// The shared cache that the settings name.
#pragma once

#include <memory>

#include "remote/http_client.h"
#include "remote/mirror.h"
#include "settings/settings.h"
#include "sys/system.h"

namespace dsbuild {

// pulling: nothing goes up; pushing: MirrorOptions::pushes; offering: MirrorOptions::offers. The last two
// whatever --remote-upload says but `never`.
enum class RemoteUse { sharing, pulling, pushing, offering };

// nullptr: the settings name none, or nothing is cached (--cache-size 0). Asks nothing yet, so a server that
// is not there is no error. Errors: exit 2 `bad_remote_url`: a scheme that is not known, a file that cannot
// be read; exit 3 `no_libcurl`; those of entry_keys.
Result<std::shared_ptr<RemoteMirror>> open_remote(const Settings& settings, System& system,
                                                  RemoteUse use = RemoteUse::sharing);

// How a server is spoken to that is named by `url` (--remote or --remote-exec): certificates, secrets, a
// credential helper of its own, which uses `system`.
// Errors: exit 2 `bad_remote_url`, those of reading.
Result<HttpOptions> server_options(const Settings& settings, const Setting<std::string>& url, System& system);

// Between the local cache of the settings and any store. Errors: those of entry_keys.
Result<std::shared_ptr<RemoteMirror>> mirror_of(std::shared_ptr<RemoteStore> store, const Settings& settings,
                                                System& system, RemoteUse use);

// Who signs entries, and who is believed. Errors: those of reading, exit 2 `bad_remote_key`.
Result<EntryKeys> entry_keys(const Settings& settings, const FileReader& files);

}  // namespace dsbuild
