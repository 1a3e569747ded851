#include "remote/entry_signature.h"

#include <algorithm>

#include "base/digest.h"

namespace dsbuild {
namespace {

constexpr size_t k_id_digits = 16;

// "": they are no hex digits.
std::string from_hex(std::string_view digits) {
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  if (digits.size() % 2 != 0 || digits.find_first_not_of("0123456789abcdef") != std::string_view::npos)
    return "";
  std::string bytes;
  for (size_t i = 0; i < digits.size(); i += 2)
    bytes += static_cast<char>(value(digits[i]) * 16 + value(digits[i + 1]));
  return bytes;
}

// Of a list of records, by what stands before the '/'.
std::string part_name(UpstreamKind what, const RemoteOutput& output) {
  return what == UpstreamKind::result ? "" : record_name(output);
}

bool are_same(const RemoteEntry& a, const RemoteEntry& b) {
  return std::ranges::equal(a, b, [](const RemoteOutput& one, const RemoteOutput& other) {
    return one.file == other.file && one.digest == other.digest && one.bytes == other.bytes;
  });
}

RemoteEntry joined(const std::vector<RemoteEntry>& parts) {
  RemoteEntry entry;
  for (const RemoteEntry& part : parts)
    entry.insert(entry.end(), part.begin(), part.end());
  return entry;
}

// Why a part does not count; "": it does.
std::string refusal_of(const std::string& name, const RemoteEntry& part,
                       const std::vector<PublicKey>& trusted) {
  const std::string& signature = part.front().signature;
  if (signature.empty()) return "it is not signed";
  const std::string id = signature.substr(0, std::min(k_id_digits, signature.size()));
  const auto key = std::ranges::find_if(trusted, [&](const PublicKey& one) { return one.id() == id; });
  if (key == trusted.end()) return "it is signed by the key " + printable(id) + ", which is not trusted";
  const std::string_view digits =
      std::string_view(signature).substr(std::min(k_id_digits + 1, signature.size()));
  if (is_signed_by(*key, signed_text(name, part), from_hex(digits))) return "";
  return "its signature by the key " + id + " is of something else";
}

}  // namespace

std::string signed_text(const std::string& name, const RemoteEntry& part) {
  std::string text = "dsbuild shared cache entry 1\n" + name + "\n" + std::to_string(part.size()) + "\n";
  for (const RemoteOutput& output : part)
    text += output.file.digest + " " + std::to_string(output.file.bytes) + " " + output.digest + " " +
            std::to_string(output.bytes) + " " + std::to_string(output.file.name.size()) + " " +
            output.file.name + "\n";
  return text;
}

std::vector<RemoteEntry> parts_of(UpstreamKind what, const RemoteEntry& entry) {
  std::vector<RemoteEntry> parts;
  std::map<std::string, size_t> places;
  for (const RemoteOutput& output : entry) {
    const auto [place, is_new] = places.try_emplace(part_name(what, output), parts.size());
    if (is_new) parts.emplace_back();
    parts[place->second].push_back(output);
  }
  return parts;
}

Result<void> sign_parts(UpstreamKind what, const std::string& name, const PrivateKey& key,
                        RemoteEntry& entry) {
  std::vector<RemoteEntry> parts = parts_of(what, entry);
  for (RemoteEntry& part : parts) {
    if (!part.front().signature.empty()) continue;
    DSBUILD_TRY(signature, sign(key, signed_text(name, part)));
    part.front().signature = key.public_key.id() + " " + hex_digits(signature);
  }
  entry = joined(parts);
  return {};
}

void keep_signatures(UpstreamKind what, const RemoteEntry& there, RemoteEntry& entry) {
  const std::vector<RemoteEntry> known = parts_of(what, there);
  std::vector<RemoteEntry> parts = parts_of(what, entry);
  for (RemoteEntry& part : parts) {
    const auto same =
        std::ranges::find_if(known, [&](const RemoteEntry& one) { return are_same(one, part); });
    if (same != known.end()) part.front().signature = same->front().signature;
  }
  entry = joined(parts);
}

TrustedEntry trusted_parts(UpstreamKind what, const std::string& name, const RemoteEntry& entry,
                           const std::vector<PublicKey>& trusted) {
  TrustedEntry all;
  std::vector<RemoteEntry> parts = parts_of(what, entry);
  parts.resize(std::min(parts.size(), k_most_records));
  for (const RemoteEntry& part : parts) {
    const std::string refusal = refusal_of(name, part, trusted);
    if (refusal.empty())
      all.entry.insert(all.entry.end(), part.begin(), part.end());
    else if (all.refusal.empty())
      all.refusal = refusal;
  }
  return all;
}

}  // namespace dsbuild
