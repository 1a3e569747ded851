#include "sys/fact_store.h"

#include <nlohmann/json.hpp>

#include "base/digest.h"

namespace dsbuild {
namespace {

using nlohmann::json;

constexpr int k_schema = 2;

// A path need not be UTF-8, as JSON must be: such a fact is not found again, which does no harm.
std::string render(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

std::string digest_of(const json& facts) {
  return sha256(render(facts, -1));
}

std::string text_at(const json& object, const char* key) {
  const auto member = object.find(key);
  return member != object.end() && member->is_string() ? member->get<std::string>() : "";
}

// The facts of a file as JSON; an empty object for anything that is not one.
json read_facts(const Path& file, const FileReader& files) {
  if (files.kind(file) != FileKind::file) return json::object();
  const auto text = files.read_file(file);
  if (!text) return json::object();
  const json document = json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object() || document.value("schema", json()) != k_schema) return json::object();
  const json facts = document.value("facts", json());
  return facts.is_object() && text_at(document, "digest") == digest_of(facts) ? facts : json::object();
}

}  // namespace

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

void FactStore::forget_unused(size_t most) {
  if (facts_.size() <= most) return;
  if (std::erase_if(facts_, [](const auto& fact) { return !fact.second.used; }) > 0)
    changed_ = forgot_ = true;
}

// All at first. Later what another dsbuild has learnt since then: what both have put is ours.
void FactStore::take_facts_of_file() {
  const json facts = read_facts(file_, files_);
  for (const auto& [key, fact] : facts.items()) {
    const auto ours = facts_.find(key);
    const bool is_ours = ours != facts_.end() && ours->second.put;
    const bool is_forgotten = ours == facts_.end() && forgot_;
    if (fact.is_object() && !is_ours && !is_forgotten)
      facts_[key] = {text_at(fact, "identity"), text_at(fact, "value")};
  }
}

void FactStore::save() {
  if (!changed_) return;
  take_facts_of_file();
  json facts = json::object();
  for (const auto& [key, fact] : facts_)
    facts[key] = {{"identity", fact.identity}, {"value", fact.value}};
  const std::string text = render({{"schema", k_schema}, {"digest", digest_of(facts)}, {"facts", facts}}, 1);
  if (files_.make_directories(file_.parent_path()) && files_.write_file(file_, text + "\n")) changed_ = false;
}

}  // namespace dsbuild
