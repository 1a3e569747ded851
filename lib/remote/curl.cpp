#include "remote/curl.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "sys/shared_library.h"

namespace dsbuild {
namespace {

// The usual one, and those that Debian builds with other TLS libraries.
constexpr std::array k_names = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl-nss.so.4"};
constexpr unsigned k_oldest = 0x074400;  // 7.68, the first with curl_multi_wakeup
constexpr const char* k_install =
    "Install libcurl: `apt-get install libcurl4` on Debian and Ubuntu, `dnf install libcurl` on RHEL and "
    "Fedora.";

// Fills in functions, and keeps the name of the first that the library lacks.
class Binder {
 public:
  explicit Binder(const SharedLibrary& library) : library_(library) {}
  template <class Function>
  void operator()(const char* name, Function*& function) {
    function = library_.function<Function>(name);
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  const std::string& missing() const { return missing_; }

 private:
  const SharedLibrary& library_;
  std::string missing_;
};

void bind_easy(Binder& bind, Curl& curl) {
  bind("curl_global_init", curl.global_init);
  bind("curl_easy_init", curl.easy_init);
  bind("curl_easy_cleanup", curl.easy_cleanup);
  bind("curl_easy_setopt", curl.easy_setopt);
  bind("curl_easy_getinfo", curl.easy_getinfo);
  bind("curl_easy_strerror", curl.easy_strerror);
  bind("curl_slist_append", curl.slist_append);
  bind("curl_slist_free_all", curl.slist_free_all);
  bind("curl_url", curl.url);
  bind("curl_url_cleanup", curl.url_cleanup);
  bind("curl_url_set", curl.url_set);
  bind("curl_url_get", curl.url_get);
  bind("curl_free", curl.free);
}

void bind_multi(Binder& bind, Curl& curl) {
  bind("curl_multi_init", curl.multi_init);
  bind("curl_multi_cleanup", curl.multi_cleanup);
  bind("curl_multi_setopt", curl.multi_setopt);
  bind("curl_multi_add_handle", curl.multi_add_handle);
  bind("curl_multi_remove_handle", curl.multi_remove_handle);
  bind("curl_multi_perform", curl.multi_perform);
  bind("curl_multi_poll", curl.multi_poll);
  bind("curl_multi_wakeup", curl.multi_wakeup);
  bind("curl_multi_info_read", curl.multi_info_read);
}

tl::unexpected<Error> no_curl(const std::string& name, const std::string& what) {
  return fail(Exit::unmet, "no_libcurl", name, what, k_install);
}

// The version comes first: an old library lacks functions.
Result<Curl> bind_all(const SharedLibrary& library, const std::string& name) {
  Curl curl;
  Binder bind(library);
  bind("curl_version_info", curl.version_info);
  const auto* const info = curl.version_info != nullptr ? curl.version_info(CURLVERSION_NOW) : nullptr;
  if (info == nullptr) return no_curl(name, "the library is not libcurl");
  if (info->version_num < k_oldest)
    return no_curl(
        name, std::string("libcurl ") + info->version + " is too old: an HTTP cache takes 7.68 or newer");
  bind_easy(bind, curl);
  bind_multi(bind, curl);
  if (!bind.missing().empty()) return no_curl(name, "libcurl has no function " + bind.missing());
  if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    return no_curl(name, "libcurl cannot be initialised");
  return curl;
}

struct OpenedLibrary {
  SharedLibrary library;
  std::string name;
};

// The reason is that of the usual name.
std::optional<OpenedLibrary> open_library(std::string& why) {
  for (const char* name : k_names)
    if (auto library = SharedLibrary::open(name, why.empty() ? &why : nullptr))
      return OpenedLibrary{std::move(*library), name};
  return std::nullopt;
}

Result<const Curl*> load() {
  std::string why;
  auto opened = open_library(why);
  if (!opened) return no_curl(k_names.front(), "an HTTP cache takes libcurl, which cannot be loaded: " + why);
  DSBUILD_TRY(curl, bind_all(opened->library, opened->name));
  // Never unloaded: its TLS library has functions that run when the process ends.
  struct Kept {
    SharedLibrary library;
    Curl curl;
  };
  static const Kept* const kept = new Kept{std::move(opened->library), curl};
  return &kept->curl;
}

}  // namespace

Result<const Curl*> load_curl() {
  static const Result<const Curl*> loaded = load();
  return loaded;
}

}  // namespace dsbuild
