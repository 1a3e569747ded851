// Signs and checks the entries of a shared cache. A signature says who made the outputs. Each part of an
// entry has its own signature: a result is one part; in a list of records, each record is one, with the texts
// that it names. So a list that several machines fill has records of several signers, and no machine signs
// records that it did not make.
//
// A signature covers these lines, and not the message, because servers may encode it differently:
//   dsbuild shared cache entry 1
//   <name of the entry>               a SHA-256 over format version, scope, kind and key (remote/mirror.cpp)
//   <number of outputs>
//   <digest> <bytes> <digest packed> <bytes packed> <length of the name> <name>    for each, in their order
// An output may be a tool's messages. There is no exit code, because entries exist only for actions that
// ended with 0.
//
// In the message, the signature is a node property of the part's first output, "ed25519": "<id of the key>
// <hex digits>", whatever the kind of key. Servers keep node properties: dsbuild needs them anyway, for the
// digests of files. The metadata of the execution would not do, because servers may fill it in, as
// bazel-remote does with the worker.
#pragma once

#include <map>

#include "cache/upstream.h"
#include "remote/action_result.h"
#include "sys/signing_key.h"

namespace dsbuild {

struct EntryKeys {
  std::optional<PrivateKey> own;   // signs uploads; nullopt: nothing is signed
  std::vector<PublicKey> trusted;  // empty: every entry is trusted
};

// The text that a signature covers. Pure.
std::string signed_text(const std::string& name, const RemoteEntry& part);

// The parts of one entry.
std::vector<RemoteEntry> parts_of(UpstreamKind what, const RemoteEntry& entry);

// Signs each part that has no signature. Error: that of signing.
Result<void> sign_parts(UpstreamKind what, const std::string& name, const PrivateKey& key,
                        RemoteEntry& entry);
// Copies signatures from parts of `there` to equal parts of `entry`.
void keep_signatures(UpstreamKind what, const RemoteEntry& there, RemoteEntry& entry);

struct TrustedEntry {
  RemoteEntry entry;    // the parts with a signature by one of the keys
  std::string refusal;  // why the first other part was refused; "": there is none
};
// Considers the first k_most_records parts only.
TrustedEntry trusted_parts(UpstreamKind what, const std::string& name, const RemoteEntry& entry,
                           const std::vector<PublicKey>& trusted);

}  // namespace dsbuild
