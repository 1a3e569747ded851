// libcurl, loaded when it is needed: only its headers are used to build. So the program stays small, starts
// fast, and runs on machines that have no libcurl, for as long as no HTTP cache is asked for.
#pragma once

// CURLOPT_… that newer versions call deprecated are the ones that older versions have.
#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>

#include "base/result.h"

namespace dsbuild {

// libcurl's functions by their names.
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

// From any thread. Loads it once, and keeps it until the process ends. Error: exit 3, code `no_libcurl`,
// where there is none, or only one before 7.68.
Result<const Curl*> load_curl();

}  // namespace dsbuild
