#include "sys/signing_key.h"

#include <openssl/evp.h>
#include <openssl/x509.h>

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

// Of each kind of key: all of its DER before the key itself (RFC 8410; RFC 5480 with the curve by its name).
struct KeyForm {
  KeyAlgorithm algorithm;
  std::string_view start;
  size_t bytes;
};
constexpr KeyForm k_forms[] = {
    {KeyAlgorithm::ed25519, {"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00", 12}, 32},
    {KeyAlgorithm::ecdsa_p256,
     {"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07\x03\x42"
      "\x00",
      26},
     65}};
constexpr const char *k_private = "PRIVATE KEY", *k_public = "PUBLIC KEY";

// ---- libcrypto

// Its functions by their names.
struct Crypto {
  decltype(&::d2i_AutoPrivateKey) read_private = nullptr;
  decltype(&::d2i_PUBKEY) read_public = nullptr;
  decltype(&::i2d_PUBKEY) write_public = nullptr;
  decltype(&::EVP_PKEY_free) free_key = nullptr;
  decltype(&::EVP_MD_CTX_new) new_context = nullptr;
  decltype(&::EVP_MD_CTX_free) free_context = nullptr;
  decltype(&::EVP_sha256) sha256 = nullptr;
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
  const bool has_all =
      bind(library, "d2i_AutoPrivateKey", crypto.read_private) &&
      bind(library, "d2i_PUBKEY", crypto.read_public) && bind(library, "i2d_PUBKEY", crypto.write_public) &&
      bind(library, "EVP_PKEY_free", crypto.free_key) &&
      bind(library, "EVP_MD_CTX_new", crypto.new_context) &&
      bind(library, "EVP_MD_CTX_free", crypto.free_context) && bind(library, "EVP_sha256", crypto.sha256) &&
      bind(library, "EVP_DigestSignInit", crypto.sign_init) && bind(library, "EVP_DigestSign", crypto.sign) &&
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

Key read_private(const Crypto& crypto, std::string_view der) {
  const unsigned char* at = bytes_of(der);
  return {crypto.read_private(nullptr, &at, static_cast<long>(der.size())), crypto.free_key};
}

Key read_public(const Crypto& crypto, std::string_view der) {
  const unsigned char* at = bytes_of(der);
  return {crypto.read_public(nullptr, &at, static_cast<long>(der.size())), crypto.free_key};
}

// Its public key's DER; "" where OpenSSL makes none.
std::string public_der(const Crypto& crypto, const Key& key) {
  const int size = crypto.write_public(key.get(), nullptr);
  if (size <= 0) return "";
  std::string der(static_cast<size_t>(size), '\0');
  unsigned char* at = bytes_of(der);
  return crypto.write_public(key.get(), &at) == size ? der : "";
}

// Ed25519 takes a message as it is.
const EVP_MD* hash_of(const Crypto& crypto, KeyAlgorithm algorithm) {
  return algorithm == KeyAlgorithm::ed25519 ? nullptr : crypto.sha256();
}

// "": it was not signed.
std::string signature_of(const Crypto& crypto, const Key& key, KeyAlgorithm algorithm,
                         std::string_view message) {
  const Context context(crypto.new_context(), crypto.free_context);
  size_t size = 0;
  if (!context ||
      crypto.sign_init(context.get(), nullptr, hash_of(crypto, algorithm), nullptr, key.get()) != 1 ||
      crypto.sign(context.get(), nullptr, &size, bytes_of(message), message.size()) != 1)
    return "";
  std::string signature(size, '\0');
  if (crypto.sign(context.get(), bytes_of(signature), &size, bytes_of(message), message.size()) != 1)
    return "";
  signature.resize(size);
  return signature;
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

// nullopt: the DER is of another kind of key.
std::optional<PublicKey> public_key_in(std::string_view der) {
  for (const KeyForm& form : k_forms)
    if (der.size() == form.start.size() + form.bytes && der.starts_with(form.start))
      return PublicKey{form.algorithm, std::string(der.substr(form.start.size()))};
  return std::nullopt;
}

constexpr const char* k_kinds = "is neither Ed25519 nor ECDSA on the curve P-256";

// A file in which a key is looked for, and the code of its errors.
struct KeyFile {
  const std::string& where;
  MessageCode code;
};

tl::unexpected<Error> bad_key(const KeyFile& file, const std::string& what, bool is_private) {
  return fail(Exit::usage, file.code, file.where, what,
              is_private ? "Make one: openssl genpkey -algorithm ed25519 -out key.pem"
                         : "Make it of a private key: openssl pkey -in key.pem -pubout -out key.pub.pem");
}

}  // namespace

std::string PublicKey::id() const {
  return sha256(bytes).substr(0, 16);
}

std::string PublicKey::der() const {
  const KeyForm& form = *std::ranges::find(k_forms, algorithm, &KeyForm::algorithm);
  return std::string(form.start) + bytes;
}

Result<PrivateKey> parse_private_key(std::string_view pem, const std::string& where, MessageCode code) {
  const KeyFile file{where, code};
  const std::vector<PemBlock> blocks = blocks_of(pem);
  if (blocks.size() != 1 || blocks.front().label != k_private)
    return bad_key(file, "it is to hold one PRIVATE KEY in PEM, without a passphrase", true);
  DSBUILD_TRY(library, crypto());
  const Key key = read_private(*library, blocks.front().der);
  if (!key) return bad_key(file, "OpenSSL reads no key in it", true);
  const auto public_key = public_key_in(public_der(*library, key));
  if (!public_key) return bad_key(file, std::string("its key ") + k_kinds, true);
  return PrivateKey{blocks.front().der, *public_key};
}

Result<PrivateKey> load_private_key(const Path& file, const FileReader& files, MessageCode code) {
  DSBUILD_TRY(text, files.read_file(file));
  return parse_private_key(text, file.string(), code);
}

Result<std::vector<PublicKey>> parse_public_keys(std::string_view pem, const std::string& where,
                                                 MessageCode code) {
  const KeyFile file{where, code};
  DSBUILD_TRY(library, crypto());
  std::vector<PublicKey> keys;
  for (const PemBlock& block : blocks_of(pem)) {
    if (block.label != k_public)
      return bad_key(file, "it has a " + printable(block.label) + ", and is to have PUBLIC KEYs", false);
    const auto key = public_key_in(block.der);
    if (!key) return bad_key(file, std::string("it has a key that ") + k_kinds, false);
    if (!read_public(*library, block.der)) return bad_key(file, "OpenSSL reads no key in it", false);
    keys.push_back(*key);
  }
  if (keys.empty()) return bad_key(file, "it holds no PUBLIC KEY in PEM", false);
  return keys;
}

Result<std::string> sign(const PrivateKey& key, std::string_view message) {
  DSBUILD_TRY(library, crypto());
  if (const Key made = read_private(*library, key.der)) {
    const std::string signature = signature_of(*library, made, key.public_key.algorithm, message);
    if (!signature.empty()) return signature;
  }
  return fail(Exit::failed, "internal", "OpenSSL", "it did not sign with the key " + key.public_key.id(),
              "Try a different libcrypto.");
}

bool is_signed_by(const PublicKey& key, std::string_view message, std::string_view signature) {
  const auto& library = crypto();
  if (!library) return false;
  const Crypto& crypto = **library;
  const Key made = read_public(crypto, key.der());
  const Context context(crypto.new_context(), crypto.free_context);
  return made && context &&
         crypto.verify_init(context.get(), nullptr, hash_of(crypto, key.algorithm), nullptr, made.get()) ==
             1 &&
         crypto.verify(context.get(), bytes_of(signature), signature.size(), bytes_of(message),
                       message.size()) == 1;
}

}  // namespace dsbuild
