#include "base/version.h"
#include "remote/http_transfer.h"
#include "sys/file_system.h"

namespace dsbuild {
namespace {

// Where distributions keep the certificates that their users trust: Debian, RHEL, SUSE.
constexpr std::array k_ca_files = {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                                   "/etc/ssl/ca-bundle.pem"};

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

curl_slist* add(const Curl& curl, curl_slist* list, const std::string& header) {
  curl_slist* const longer = curl.slist_append(list, header.c_str());
  return longer != nullptr ? longer : list;
}

// No "Expect: 100-continue": a round trip more for each file.
curl_slist* make_headers(const Curl& curl) {
  curl_slist* const list = add(curl, nullptr, "Expect:");
  return add(curl, list, "Content-Type: application/octet-stream");
}

}  // namespace

HttpSetup::HttpSetup(const Curl& curl, HttpOptions options, HttpUrl base, const FileReader& files)
    : curl_(curl),
      options_(std::move(options)),
      base_(std::move(base)),
      user_agent_(std::string("dsbuild/") + k_version),
      ca_file_(options_.ca_file.string()),
      headers_(make_headers(curl)),
      own_headers_(make_headers(curl)) {
  if (ca_file_.empty()) ca_file_ = choose_ca_file(curl, files);
  if (!options_.authorization.empty())
    own_headers_ = add(curl, own_headers_, "Authorization: " + options_.authorization);
}

HttpSetup::~HttpSetup() {
  curl_.slist_free_all(headers_);
  curl_.slist_free_all(own_headers_);
}

}  // namespace dsbuild
