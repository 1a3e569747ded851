#include "base/version.h"
#include "remote/http_transfer.h"
#include "sys/file_system.h"

namespace dsbuild {
namespace {

// Where distributions keep the certificates that their users trust: Debian, RHEL, SUSE.
constexpr std::array k_ca_files = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                   "/etc/ssl/ca-bundle.pem"};

bool can_reuse_h2c(const Curl& curl) {
  const unsigned version = curl.version_info(CURLVERSION_NOW)->version_num;
  return version < 0x075800 || version >= 0x080000;
}

bool is_there(const FileReader& files, const char* path) {
  return path != nullptr && files.opening(path) == Opening::file;
}

// A libcurl of another distribution, as one that a package brings along, looks where this one keeps none.
std::string choose_ca_file(const Curl& curl, const FileReader& files) {
  const auto* const info = curl.version_info(CURLVERSION_NOW);
  if (info->age >= CURLVERSION_SEVENTH && is_there(files, info->cainfo)) return "";
  for (const char* path : k_ca_files)
    if (is_there(files, path)) return path;
  return "";
}

}  // namespace

HttpSetup::HttpSetup(const Curl& curl, HttpOptions options, HttpUrl base, const FileReader& files)
    : curl_(curl),
      options_(std::move(options)),
      base_(std::move(base)),
      user_agent_(std::string("dsbuild/") + k_version),
      ca_file_(options_.ca_file.string()),
      reuses_h2c_(can_reuse_h2c(curl)) {
  if (ca_file_.empty()) ca_file_ = choose_ca_file(curl, files);
}

}  // namespace dsbuild
