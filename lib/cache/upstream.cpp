#include "cache/upstream.h"

#include <array>

#include "sys/request_server.h"

namespace dsbuild {
namespace {

constexpr std::array<const char*, 2> k_wanted = {"result", "records"};  // in the enum's order
constexpr const char *k_fetch = "fetch", *k_added = "added", *k_found = "found", *k_yes = "1", *k_no = "0";

// "fetch result <name>"
std::string question_of(const char* verb, UpstreamKind what, const std::string& name) {
  return std::string(verb) + " " + k_wanted[static_cast<size_t>(what)] + " " + name;
}

class BuildUpstream : public Upstream {
 public:
  explicit BuildUpstream(const Environment& environment)
      : client_(environment, k_upstream_variable), found_client_(environment, k_upstream_found_variable) {}
  bool has_server() const { return client_.has_server(); }
  bool fetch(UpstreamKind what, const std::string& name) override {
    return client_.ask(question_of(k_fetch, what, name)) == k_yes;
  }
  void added(UpstreamKind what, const std::string& name) override {
    (void)client_.ask(question_of(k_added, what, name));
  }

  void found(UpstreamKind what, const std::string& name) override {
    if (found_client_.has_server()) (void)found_client_.ask(question_of(k_found, what, name));
  }

 private:
  RequestClient client_, found_client_;
};

}  // namespace

std::string answer_of(Upstream& upstream, const std::string& question) {
  const std::vector<std::string> words = split(question, " ");
  if (words.size() != 3) return k_no;
  for (size_t i = 0; i < k_wanted.size(); ++i) {
    if (words[1] != k_wanted[i]) continue;
    const auto what = static_cast<UpstreamKind>(i);
    if (words[0] == k_fetch) return upstream.fetch(what, words[2]) ? k_yes : k_no;
    if (words[0] == k_added) upstream.added(what, words[2]);
    if (words[0] == k_found) upstream.found(what, words[2]);
  }
  return k_no;
}

std::shared_ptr<Upstream> upstream_of_build(const Environment& environment) {
  auto upstream = std::make_shared<BuildUpstream>(environment);
  return upstream->has_server() ? upstream : nullptr;
}

}  // namespace dsbuild
