#include "sys/ed25519.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "base/base64.h"
#include "base/digest.h"
#include "base/text.h"
#include "sys/shared_library.h"

namespace dsbuild {
namespace {

constexpr size_t k_key_bytes = 32, k_signature_bytes = 64;
// RFC 8410: all of the DER before the key itself.
constexpr std::string_view k_private_start{"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20",
                                           16};
constexpr std::string_view k_public_start{"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00", 12};
constexpr const char *k_private = "PRIVATE KEY", *k_public = "PUBLIC KEY";

// ---- libcrypto

// Its functions by their names.
struct Crypto {
  decltype(&::EVP_PKEY_new_raw_private_key) new_private = nullptr;
  decltype(&::EVP_PKEY_new_raw_public_key) new_public = nullptr;
  decltype(&::EVP_PKEY_get_raw_public_key) public_of = nullptr;
  decltype(&::EVP_PKEY_free) free_key = nullptr;
  decltype(&::EVP_MD_CTX_new) new_context = nullptr;
  decltype(&::EVP_MD_CTX_free) free_context = nullptr;
  decltype(&::EVP_DigestSignInit) sign_init = nullptr;
  decltype(&::EVP_DigestSign) sign = nullptr;
  decltype(&::EVP_DigestVerifyInit) verify_init = nullptr;
  decltype(&::EVP_DigestVerify) verify = nullptr;
};

template <class Function>
bool bind(const SharedLibrary& library, const char* name, Function*& function) {
  function = library.function<Function>(name);
  return function != nullptr;
}

std::optional<Crypto> bind_all(const SharedLibrary& library) {
  Crypto crypto;
  const bool has_all = bind(library, "EVP_PKEY_new_raw_private_key", crypto.new_private) &&
                       bind(library, "EVP_PKEY_new_raw_public_key", crypto.new_public) &&
                       bind(library, "EVP_PKEY_get_raw_public_key", crypto.public_of) &&
                       bind(library, "EVP_PKEY_free", crypto.free_key) &&
                       bind(library, "EVP_MD_CTX_new", crypto.new_context) &&
                       bind(library, "EVP_MD_CTX_free", crypto.free_context) &&
                       bind(library, "EVP_DigestSignInit", crypto.sign_init) &&
                       bind(library, "EVP_DigestSign", crypto.sign) &&
                       bind(library, "EVP_DigestVerifyInit", crypto.verify_init) &&
                       bind(library, "EVP_DigestVerify", crypto.verify);
  return has_all ? std::optional(crypto) : std::nullopt;
}

Result<const Crypto*> load() {
  constexpr std::array k_names = {"libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so.4"};
  std::string why;
  for (const char* name : k_names) {
    auto library = SharedLibrary::open(name, why.empty() ? &why : nullptr);
    const auto crypto = library ? bind_all(*library) : std::nullopt;
    if (!crypto) continue;
    // Never unloaded: it has functions that run when the process ends.
    struct Kept {
      SharedLibrary library;
      Crypto crypto;
    };
    static const Kept* const kept = new Kept{std::move(*library), *crypto};
    return &kept->crypto;
  }
  return fail(
      Exit::unmet, "no_libcrypto", k_names.front(),
      "signatures take OpenSSL's libcrypto 1.1.1 or newer, which cannot be loaded: " + why,
      "Install it: `apt-get install libssl3` on Debian and Ubuntu, `dnf install openssl-libs` on RHEL "
      "and Fedora.");
}

const Result<const Crypto*>& crypto() {
  static const Result<const Crypto*> loaded = load();
  return loaded;
}

using Key = std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)>;
using Context = std::unique_ptr<EVP_MD_CTX, decltype(&::EVP_MD_CTX_free)>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

std::string public_key_of(const Crypto& crypto, const std::string& seed) {
  const Key key(crypto.new_private(EVP_PKEY_ED25519, nullptr, bytes_of(std::string_view(seed)), seed.size()),
                crypto.free_key);
  std::string bytes(k_key_bytes, '\0');
  size_t size = bytes.size();
  const bool is_got = key && crypto.public_of(key.get(), bytes_of(bytes), &size) == 1 && size == k_key_bytes;
  return is_got ? bytes : "";
}

// ---- PEM (RFC 7468)

struct PemBlock {
  std::string label, der;
};

// "": it is none.
std::string decode_base64(std::string text) {
  std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == ' ' || c == '\t'; });
  if (text.empty() || text.size() % 4 != 0) return "";
  return base64_decoded(text).value_or("");
}

std::vector<PemBlock> blocks_of(std::string_view pem) {
  constexpr std::string_view k_begin = "-----BEGIN ", k_dashes = "-----";
  std::vector<PemBlock> blocks;
  size_t at = 0;
  while ((at = pem.find(k_begin, at)) != std::string_view::npos) {
    at += k_begin.size();
    const size_t label_end = pem.find(k_dashes, at);
    if (label_end == std::string_view::npos) break;
    PemBlock block{std::string(pem.substr(at, label_end - at)), {}};
    const size_t text = label_end + k_dashes.size();
    const size_t end = pem.find("-----END " + block.label + "-----", text);
    if (end == std::string_view::npos) break;
    block.der = decode_base64(std::string(pem.substr(text, end - text)));
    blocks.push_back(std::move(block));
    at = end + 1;
  }
  return blocks;
}

// "": the DER is of another kind of key.
std::string key_in(const std::string& der, std::string_view start) {
  const bool is_it = der.size() == start.size() + k_key_bytes && der.starts_with(start);
  return is_it ? der.substr(start.size()) : "";
}

tl::unexpected<Error> bad_key(const std::string& where, const std::string& what, bool is_private) {
  return fail(Exit::usage, "bad_remote_key", where, what,
              is_private ? "Make one: openssl genpkey -algorithm ed25519 -out key.pem"
                         : "Make it of a private key: openssl pkey -in key.pem -pubout -out key.pub.pem");
}

}  // namespace

std::string Ed25519PublicKey::id() const {
  return sha256(bytes).substr(0, 16);
}

Result<Ed25519PrivateKey> parse_private_key(std::string_view pem, const std::string& where) {
  const std::vector<PemBlock> blocks = blocks_of(pem);
  if (blocks.size() != 1 || blocks.front().label != k_private)
    return bad_key(where, "it is to hold one PRIVATE KEY in PEM, without a passphrase", true);
  Ed25519PrivateKey key{key_in(blocks.front().der, k_private_start), {}};
  if (key.seed.empty()) return bad_key(where, "its key is no Ed25519 key", true);
  DSBUILD_TRY(library, crypto());
  key.public_key.bytes = public_key_of(*library, key.seed);
  if (key.public_key.bytes.empty()) return bad_key(where, "OpenSSL makes no key of it", true);
  return key;
}

Result<std::vector<Ed25519PublicKey>> parse_public_keys(std::string_view pem, const std::string& where) {
  std::vector<Ed25519PublicKey> keys;
  for (const PemBlock& block : blocks_of(pem)) {
    if (block.label != k_public)
      return bad_key(where, "it has a " + printable(block.label) + ", and is to have PUBLIC KEYs", false);
    keys.push_back({key_in(block.der, k_public_start)});
    if (keys.back().bytes.empty()) return bad_key(where, "it has a key that is no Ed25519 key", false);
  }
  if (keys.empty()) return bad_key(where, "it holds no PUBLIC KEY in PEM", false);
  DSBUILD_CHECK(crypto());
  return keys;
}

Result<std::string> sign(const Ed25519PrivateKey& key, std::string_view message) {
  DSBUILD_TRY(library, crypto());
  const Key made(
      library->new_private(EVP_PKEY_ED25519, nullptr, bytes_of(std::string_view(key.seed)), key.seed.size()),
      library->free_key);
  const Context context(library->new_context(), library->free_context);
  std::string signature(k_signature_bytes, '\0');
  size_t size = signature.size();
  const bool is_signed =
      made && context && library->sign_init(context.get(), nullptr, nullptr, nullptr, made.get()) == 1 &&
      library->sign(context.get(), bytes_of(signature), &size, bytes_of(message), message.size()) == 1 &&
      size == k_signature_bytes;
  if (is_signed) return signature;
  return fail(Exit::failed, "internal", "OpenSSL", "it did not sign with an Ed25519 key",
              "Try a different libcrypto.");
}

bool is_signed_by(const Ed25519PublicKey& key, std::string_view message, std::string_view signature) {
  const auto& library = crypto();
  if (!library || key.bytes.size() != k_key_bytes || signature.size() != k_signature_bytes) return false;
  const Crypto& crypto = **library;
  const Key made(
      crypto.new_public(EVP_PKEY_ED25519, nullptr, bytes_of(std::string_view(key.bytes)), key.bytes.size()),
      crypto.free_key);
  const Context context(crypto.new_context(), crypto.free_context);
  return made && context && crypto.verify_init(context.get(), nullptr, nullptr, nullptr, made.get()) == 1 &&
         crypto.verify(context.get(), bytes_of(signature), signature.size(), bytes_of(message),
                       message.size()) == 1;
}

}  // namespace dsbuild
