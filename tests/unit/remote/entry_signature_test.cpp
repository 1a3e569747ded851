#include "remote/entry_signature.h"

#include <catch2/catch.hpp>
#include <functional>

#include "support/signing_keys.h"

namespace dsbuild {
namespace {

std::string digest_of(char letter) {
  return std::string(64, letter);
}

const std::string k_entry = digest_of('c');

const PrivateKey &k_one = k_key_one, &k_two = k_key_two;

RemoteEntry result() {
  return {{{".compute_80.ptx", digest_of('a'), 70000}, digest_of('b'), 300},
          {{"/about", digest_of('d'), 9}, digest_of('e'), 20}};
}

// A record with the texts that it names.
RemoteEntry record(char letter) {
  const std::string name = digest_of(letter);
  return {{{name, name, 500}, digest_of('1'), 50}, {{name + "/1", digest_of('2'), 700}, digest_of('3'), 70}};
}

RemoteEntry both(RemoteEntry first, const RemoteEntry& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

RemoteEntry signed_by(const PrivateKey& key, UpstreamKind what, RemoteEntry entry) {
  REQUIRE(sign_parts(what, k_entry, key, entry));
  return entry;
}

bool counts(UpstreamKind what, const std::string& name, const RemoteEntry& entry,
            const std::vector<PublicKey>& keys = {k_one.public_key}) {
  return trusted_parts(what, name, entry, keys).entry == entry;
}

}  // namespace

TEST_CASE("what is signed, and its signature") {
  CHECK(signed_text(k_entry, result()) ==
        "dsbuild shared cache entry 1\n" + k_entry + "\n2\n" + digest_of('a') + " 70000 " + digest_of('b') +
            " 300 15 .compute_80.ptx\n" + digest_of('d') + " 9 " + digest_of('e') + " 20 6 /about\n");
  // By Python's cryptography 48, of that text.
  CHECK(signed_by(k_one, UpstreamKind::result, result()).front().signature ==
        "21fe31dfa154a261 ee5710e9e378c84370875bafd62f75be54b2cf54e65a70bebf786a04260abb9552b4097244312663"
        "de8982603e481378db6f22140f0a8efb5ed5330ef04cd801");
}

TEST_CASE("a signed entry goes through its message") {
  const RemoteEntry entry = signed_by(k_one, UpstreamKind::result, result());
  const auto read = parse_entry(k_entry, render_entry(k_entry, entry));
  REQUIRE(read);
  CHECK(*read == entry);
  CHECK(counts(UpstreamKind::result, k_entry, *read));
}

TEST_CASE("a change of any field is refused") {
  const RemoteEntry whole = signed_by(k_one, UpstreamKind::result, result());
  const std::vector<std::function<void(RemoteEntry&)>> changes = {
      [](RemoteEntry& entry) { entry[0].file.name = ".compute_90.ptx"; },
      [](RemoteEntry& entry) { entry[0].file.digest = digest_of('f'); },
      [](RemoteEntry& entry) { ++entry[0].file.bytes; },
      [](RemoteEntry& entry) { entry[0].digest = digest_of('f'); },
      [](RemoteEntry& entry) { ++entry[0].bytes; }, [](RemoteEntry& entry) { entry[1].file.name = "/other"; },
      [](RemoteEntry& entry) { entry[1].file.digest = digest_of('f'); },
      [](RemoteEntry& entry) { entry[1].digest = digest_of('f'); },
      [](RemoteEntry& entry) { entry.pop_back(); }, [](RemoteEntry& entry) { entry.push_back(entry.back()); },
      [](RemoteEntry& entry) {
        std::swap(entry[0], entry[1]);
        std::swap(entry[0].signature, entry[1].signature);
      },
      [](RemoteEntry& entry) { entry[0].signature.clear(); },
      [](RemoteEntry& entry) { entry[0].signature.back() = entry[0].signature.back() == 'd' ? 'c' : 'd'; },
      [](RemoteEntry& entry) { entry[0].signature.resize(100); },
      [](RemoteEntry& entry) { entry[0].signature.resize(8); },
      [](RemoteEntry& entry) { entry[0].signature[0] = 'x'; },
      // Another's signature under the id of the trusted key.
      [](RemoteEntry& entry) {
        entry[0].signature =
            k_one.public_key.id() + signed_by(k_two, UpstreamKind::result, result())[0].signature.substr(16);
      }};
  CHECK(counts(UpstreamKind::result, k_entry, whole));
  for (size_t i = 0; i < changes.size(); ++i) {
    INFO(i);
    RemoteEntry changed = whole;
    changes[i](changed);
    const TrustedEntry trusted = trusted_parts(UpstreamKind::result, k_entry, changed, {k_one.public_key});
    CHECK(trusted.entry.empty());
    CHECK_FALSE(trusted.refusal.empty());
  }
  CHECK_FALSE(counts(UpstreamKind::result, digest_of('9'), whole));  // of another key, scope or kind
}

TEST_CASE("each record is signed by itself") {
  const RemoteEntry one = signed_by(k_one, UpstreamKind::records, record('4')),
                    two = signed_by(k_two, UpstreamKind::records, record('5'));
  const RemoteEntry list = both(one, two), unsigned_one = record('6');
  CHECK(counts(UpstreamKind::records, k_entry, list, {k_one.public_key, k_two.public_key}));
  const TrustedEntry trusted =
      trusted_parts(UpstreamKind::records, k_entry, both(unsigned_one, list), {k_two.public_key});
  CHECK(trusted.entry == two);
  CHECK(trusted.refusal == "it is not signed");
  CHECK(trusted_parts(UpstreamKind::records, k_entry, one, {k_two.public_key}).refusal ==
        "it is signed by the key 21fe31dfa154a261, which is not trusted");
  RemoteEntry mixed = one;  // the texts of another record
  mixed[1].file.digest = digest_of('7');
  CHECK(trusted_parts(UpstreamKind::records, k_entry, both(mixed, two), {k_one.public_key}).entry.empty());
}

TEST_CASE("who passes a record on does not sign it") {
  const RemoteEntry others = signed_by(k_two, UpstreamKind::records, record('4'));
  RemoteEntry mine = record('4');
  keep_signatures(UpstreamKind::records, others, mine);
  CHECK(mine == others);
  CHECK(signed_by(k_one, UpstreamKind::records, mine) == others);
  RemoteEntry different = record('4');
  ++different[1].bytes;
  keep_signatures(UpstreamKind::records, others, different);
  CHECK(different.front().signature.empty());
}

TEST_CASE("no more records are looked at than a list has") {
  RemoteEntry many;
  for (const char letter : {'0', '1', '2', '3'})
    many = both(many, record(letter));
  CHECK(trusted_parts(UpstreamKind::records, k_entry,
                      both(many, signed_by(k_one, UpstreamKind::records, record('8'))), {k_one.public_key})
            .entry.empty());
}

TEST_CASE("a key of ECDSA signs entries, too") {
  const auto key = parse_private_key(k_p256_private_pem, "key.pem");
  REQUIRE(key);
  RemoteEntry entry = signed_by(*key, UpstreamKind::result, result());
  CHECK(counts(UpstreamKind::result, k_entry, entry, {k_one.public_key, key->public_key}));
  CHECK_FALSE(counts(UpstreamKind::result, k_entry, entry));
  entry[0].digest = digest_of('f');
  CHECK_FALSE(counts(UpstreamKind::result, k_entry, entry, {key->public_key}));
}

}  // namespace dsbuild
