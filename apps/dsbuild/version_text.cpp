#include "version_text.h"

#include <curl/curl.h>
#include <gnu/libc-version.h>
#include <openssl/crypto.h>

#include "base/version.h"
#include "remote/curl.h"

namespace dsbuild {
namespace {

// From CMake; "" where the sources are no git checkout.
constexpr std::string_view k_commit = DSBUILD_COMMIT, k_build_type = DSBUILD_BUILD_TYPE;

std::string compiler_text() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

// It is loaded when a cache needs it (remote/curl.h).
std::string curl_text() {
  const auto curl = load_curl();
  if (!curl) return "none: " + curl.error().what;
  return (*curl)->version_info(CURLVERSION_NOW)->version;
}

std::string line(const char* name, const std::string& value) {
  return std::string(name) + std::string(10 - std::string_view(name).size(), ' ') + value + "\n";
}

}  // namespace

std::string version_text(bool with_details) {
  const std::string text = std::string("dsbuild ") + k_version + "\n";
  if (!with_details) return text;
  return text +
         line("commit", k_commit.empty() ? "unknown: not built from a git checkout" : std::string(k_commit)) +
         line("compiler", compiler_text() + ", C++20, " + std::string(k_build_type)) +
         line("glibc", ::gnu_get_libc_version()) + line("OpenSSL", ::OpenSSL_version(OPENSSL_VERSION)) +
         line("libcurl", curl_text());
}

}  // namespace dsbuild
