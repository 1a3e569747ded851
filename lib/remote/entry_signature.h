// Signatures of a shared cache's entries: who made what an entry says. Each part of an entry that counts by
// itself is signed by itself: a result is one part, and in a list of records each record is one, with the
// texts that it names. So lists that several machines fill hold records of several signers, and no machine
// signs what it has only passed on.
//
// A signature is over these lines, and not over the message, which servers may write in another way:
//   dsbuild shared cache entry 1
//   <name of the entry>               a SHA-256 over format version, scope, kind and key (remote/mirror.cpp)
//   <number of outputs>
//   <digest> <bytes> <digest packed> <bytes packed> <length of the name> <name>    for each, in their order
// An output may be the text that tools said. There is no exit code: only what ended with 0 is an entry.
//
// In the message it is a node property of the part's first output, "ed25519": "<id of the key> <hex digits>",
// whatever kind of key it is. Servers keep node properties, or no entry of dsbuild could be read: digests of
// files are there, too. The metadata of an execution is no such place: servers may fill it in, as
// bazel-remote does with its worker.
#pragma once

#include <map>

#include "cache/upstream.h"
#include "remote/action_result.h"
#include "sys/signing_key.h"

namespace dsbuild {

struct EntryKeys {
  std::optional<PrivateKey> own;   // signs what goes up; nullopt: nothing is signed
  std::vector<PublicKey> trusted;  // empty: every entry is believed
};

// Pure: what is signed.
std::string signed_text(const std::string& name, const RemoteEntry& part);

// The parts of one entry.
std::vector<RemoteEntry> parts_of(UpstreamKind what, const RemoteEntry& entry);

// Signs each part that has no signature.
Result<void> sign_parts(UpstreamKind what, const std::string& name, const PrivateKey& key,
                        RemoteEntry& entry);
// Gives parts of `entry` the signatures of the same parts of `there`.
void keep_signatures(UpstreamKind what, const RemoteEntry& there, RemoteEntry& entry);

struct TrustedEntry {
  RemoteEntry entry;    // the parts that one of the keys has signed
  std::string refusal;  // why the first of the others does not count; "": there are none
};
// No more than k_most_records parts are looked at.
TrustedEntry trusted_parts(UpstreamKind what, const std::string& name, const RemoteEntry& entry,
                           const std::vector<PublicKey>& trusted);

}  // namespace dsbuild
