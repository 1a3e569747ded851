// A cache that a server keeps, by GET, PUT and HEAD of <url>/ac/<digest> and <url>/cas/<digest>:
// bazel-remote, nginx with dav, and what else Bazel and its like can use as an HTTP cache.
#pragma once

#include <chrono>
#include <memory>

#include "base/result.h"
#include "base/text.h"
#include "remote/remote_store.h"
#include "sys/file_system.h"

namespace dsbuild {

struct HttpOptions {
  std::string url;  // "https://host:port/path"; a user and a password in it are sent, and never shown
  // Certificates in PEM. Without ca_file: those that libcurl was built to use, else the system's. libcurl
  // does not read SSL_CERT_FILE: who wants that variable to count gives its value here.
  Path ca_file = {};
  Path client_cert = {}, client_key = {};
  std::string authorization = {};  // the value of the header Authorization, "Bearer …": a secret
  bool uses_netrc = true;          // where neither the URL nor `authorization` says who we are
  // For one file, from the first time that it is sent, over all tries.
  std::chrono::milliseconds deadline{10'000};
  std::chrono::milliseconds connect_timeout{1'000};
};

// Sends nothing yet. `files`: where certificates are looked for. Errors: those of load_curl(); exit 2, code
// `bad_remote_url`, where the URL is none, or a header cannot carry `authorization`.
Result<std::unique_ptr<RemoteStore>> open_http_store(HttpOptions options, const FileReader& files);

}  // namespace dsbuild
