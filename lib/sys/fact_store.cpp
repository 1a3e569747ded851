#include "sys/fact_store.h"

#include "base/digest.h"
#include "base/json.h"

namespace dsbuild {
namespace {

constexpr uint64_t k_schema = 3;
const std::string k_before_digest = "{\"digest\":\"";

// The file's text is JSON. It begins with the digest of all that follows the digest, so that a reader need
// not write the facts again to check them. A path need not be UTF-8, as JSON must be: such a fact is not
// found again, which does no harm.
std::string with_digest(const Json& document) {
  const std::string rest = "\"," + document.dump().substr(1);
  return k_before_digest + sha256(rest) + rest;
}

bool has_right_digest(const std::string& text) {
  if (!text.starts_with(k_before_digest)) return false;
  const size_t end = text.find('"', k_before_digest.size());
  return end != std::string::npos && text.substr(k_before_digest.size(), end - k_before_digest.size()) ==
                                         sha256(std::string_view(text).substr(end));
}

// Only with facts of this schema, and as it was written.
std::optional<Json> read_document(const Path& file, const FileReader& files) {
  if (files.kind(file) != FileKind::file) return std::nullopt;
  const auto text = files.read_file(file);
  auto document = text && has_right_digest(*text) ? Json::parse(*text) : std::nullopt;
  const Json* schema = document ? document->find("schema") : nullptr;
  const Json* facts = document ? document->find("facts") : nullptr;
  const bool is_whole = schema && schema->number() == k_schema && facts && facts->members();
  return is_whole ? std::move(document) : std::nullopt;
}

// The fact that the files which a value names are as they were when it was put.
std::string key_of_named(const std::string& key) {
  return key + ": its files";
}

FactBasis basis_of_named(const FactBasis& basis, const FactStore::NamedFiles& named,
                         const std::string& value) {
  return {sha256(value), named(value), basis.is_of_machine};
}

}  // namespace

std::string identity_here(const FactBasis& basis, const FileReader& files) {
  std::string text = basis.text;
  for (const Path& path : basis.files) {
    const auto identity = files.identity(path);
    text += "\n" + path.string() + " " + (identity ? identity->text() : "absent");
  }
  return text;
}

FactStore::FactStore(FileSystem& files, Path file) : files_(files), file_(std::move(file)) {
  take_facts_of_file();
}

std::optional<std::string> FactStore::find(const std::string& key, const std::string& identity) const {
  const auto fact = facts_.find(key);
  if (fact == facts_.end() || fact->second.identity != identity) return std::nullopt;
  fact->second.used = true;
  return fact->second.value;
}

void FactStore::put(const std::string& key, const std::string& identity, const std::string& value) {
  if (find(key, identity) == value) return;
  facts_[key] = {identity, value, true, true};
  changed_ = true;
}

std::optional<std::string> FactStore::find(const std::string& key, const FactBasis& basis) {
  const std::string identity = identity_here(basis, files_);
  auto value = find(key, identity);
  if (!shared_ || basis.is_of_machine) return value;
  if (value && shares_known_ && !shared_->find(key, basis)) shared_->put(key, basis, *value);
  if (value) return value;
  value = shared_->find(key, basis);
  if (value) put(key, identity, *value);
  return value;
}

void FactStore::put(const std::string& key, const FactBasis& basis, const std::string& value) {
  put(key, identity_here(basis, files_), value);
  if (shared_ && !basis.is_of_machine) shared_->put(key, basis, value);
}

std::optional<std::string> FactStore::find(const std::string& key, const FactBasis& basis,
                                           const NamedFiles& named) {
  auto value = find(key, basis);
  const bool holds = value && find(key_of_named(key), basis_of_named(basis, named, *value));
  return holds ? value : std::nullopt;
}

void FactStore::put(const std::string& key, const FactBasis& basis, const NamedFiles& named,
                    const std::string& value) {
  put(key, basis, value);
  put(key_of_named(key), basis_of_named(basis, named, value), std::string("as they were"));
}

void FactStore::forget_unused(size_t most) {
  if (facts_.size() <= most) return;
  if (std::erase_if(facts_, [](const auto& fact) { return !fact.second.used; }) > 0)
    changed_ = forgot_ = true;
}

// All at first. Later what another dsbuild has learnt since then: what both have put is ours.
void FactStore::take_facts_of_file() {
  const auto document = read_document(file_, files_);
  if (!document) return;
  for (const auto& [key, fact] : *document->find("facts")->members()) {
    const auto ours = facts_.find(key);
    const bool is_ours = ours != facts_.end() && ours->second.put;
    const bool is_forgotten = ours == facts_.end() && forgot_;
    if (fact.members() && !is_ours && !is_forgotten)
      facts_[key] = {text_at(fact, "identity"), text_at(fact, "value")};
  }
}

void FactStore::save() {
  if (!changed_) return;
  take_facts_of_file();
  Json facts = Json::object();
  for (const auto& [key, fact] : facts_)
    facts.add(key, {{"identity", fact.identity}, {"value", fact.value}});
  const std::string text = with_digest({{"facts", facts}, {"schema", k_schema}});
  if (files_.make_directories(file_.parent_path()) && files_.write_file(file_, text)) changed_ = false;
}

}  // namespace dsbuild
