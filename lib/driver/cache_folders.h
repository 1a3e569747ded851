// Whether what is found out and made can be kept for the next builds.
#pragma once

#include "settings/settings.h"

namespace dsbuild {

// `cache_not_writable` for the cache folder and for a store elsewhere: a build works without them, at a price
// that is to be known before it is paid.
std::vector<Warning> check_caches(const Settings& settings, FileSystem& files);

}  // namespace dsbuild
