// libcurl, loaded with dlopen when it is first needed; the build uses only its headers. So the program stays
// small and starts fast. It also runs on machines without libcurl, unless a shared cache needs HTTP.
#pragma once

// Some CURLOPT_… are deprecated in newer versions, but older versions have no others.
#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>

#include "base/result.h"

namespace dsbuild {

struct Curl {
  decltype(&::curl_version_info) version_info = nullptr;
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_easy_setopt) easy_setopt = nullptr;
  decltype(&::curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  decltype(&::curl_multi_init) multi_init = nullptr;
  decltype(&::curl_multi_cleanup) multi_cleanup = nullptr;
  decltype(&::curl_multi_setopt) multi_setopt = nullptr;
  decltype(&::curl_multi_add_handle) multi_add_handle = nullptr;
  decltype(&::curl_multi_remove_handle) multi_remove_handle = nullptr;
  decltype(&::curl_multi_perform) multi_perform = nullptr;
  decltype(&::curl_multi_poll) multi_poll = nullptr;
  decltype(&::curl_multi_wakeup) multi_wakeup = nullptr;
  decltype(&::curl_multi_info_read) multi_info_read = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;
  decltype(&::curl_url) url = nullptr;
  decltype(&::curl_url_cleanup) url_cleanup = nullptr;
  decltype(&::curl_url_set) url_set = nullptr;
  decltype(&::curl_url_get) url_get = nullptr;
  decltype(&::curl_free) free = nullptr;
};

// May be called from any thread. Loads libcurl once, and keeps it until the process ends. Error: exit 3
// `no_libcurl` if there is none, or it is older than 7.68.
Result<const Curl*> load_curl();

}  // namespace dsbuild
