#include "remote/reapi_store.h"

#include "remote/reapi_cas.h"

namespace dsbuild {
namespace {

using State = RemoteAnswer::State;
using Blobs = ReapiCas::Blobs;
using Digests = ReapiCas::Digests;

constexpr const char* k_ac = "build.bazel.remote.execution.v2.ActionCache/";

// An Action stands for an entry of the cache, whose key is no Action: the key is its salt. It names a
// Command, and a folder without files.
std::string command_of_entries() {
  return render_command({.arguments = {"dsbuild"}});
}
std::string action_of_entry(const ReapiDigest& command, const std::string& key) {
  return render_action(command, digest_of(""), {}, key);
}

class ReapiStore : public RemoteStore {
 public:
  explicit ReapiStore(std::unique_ptr<ReapiCas> cas) : cas_(std::move(cas)) {}

  std::vector<RemoteAnswer> get(const std::vector<RemoteName>& names) override { return ask(names, true); }
  std::vector<RemoteAnswer> has(const std::vector<RemoteName>& names) override { return ask(names, false); }
  // Servers look for each file of an entry, and may take out what is in one.
  bool takes_contents() const override { return false; }
  std::vector<RemoteAnswer> put(const std::vector<RemoteFile>& files) override;
  void cancel() override { cas_->cancel(); }
  std::optional<uint64_t> requests() const override { return cas_->channel().calls(); }

 private:
  std::vector<RemoteAnswer> ask(const std::vector<RemoteName>& names, bool wants_bytes);
  void get_results(const std::vector<RemoteName>& names, BlobAnswers& answers) const;
  void put_results(const std::vector<const RemoteFile*>& files, BlobAnswers& answers);

  const std::unique_ptr<ReapiCas> cas_;
};

// Of both kinds, in the order of the names.
std::vector<RemoteAnswer> ReapiStore::ask(const std::vector<RemoteName>& names, bool wants_bytes) {
  if (names.empty()) return {};
  const ReapiServer& known = cas_->server();
  if (known.state != State::done) return {names.size(), {known.state, {}, known.why}};
  BlobAnswers results, blobs;
  std::vector<RemoteName> actions;
  Digests digests;
  for (const RemoteName& name : names) {
    if (name.kind == RemoteKind::ac && results.ask(name.digest)) actions.push_back(name);
    if (name.kind == RemoteKind::cas && blobs.ask(name.digest)) digests.push_back({name.digest, name.bytes});
  }
  for (const ReapiDigest& digest : digests)
    if (digest.bytes == 0)
      blobs.answer(digest.hash, {State::failed, {}, cas_->origin() + ": the size of a file is not known"});
  std::erase_if(digests, [](const ReapiDigest& digest) { return digest.bytes == 0; });
  get_results(actions, results);
  if (wants_bytes)
    cas_->get(digests, blobs);
  else
    cas_->find(digests, blobs);
  std::vector<RemoteAnswer> answers;
  for (const RemoteName& name : names) {
    answers.push_back((name.kind == RemoteKind::ac ? results : blobs).take(name.digest));
    if (!wants_bytes) answers.back().bytes.clear();
  }
  return answers;
}

void ReapiStore::get_results(const std::vector<RemoteName>& names, BlobAnswers& answers) const {
  const std::string method = std::string(k_ac) + "GetActionResult";
  const ReapiDigest command = digest_of(command_of_entries());
  std::vector<GrpcCall> calls;
  for (const RemoteName& name : names)
    calls.push_back(ReapiCas::unary(
        method, render_get_result(cas_->instance(), digest_of(action_of_entry(command, name.digest)))));
  auto replies = cas_->channel().call(calls);
  for (size_t i = 0; i < names.size(); ++i) {
    GrpcReply& reply = replies[i];
    RemoteAnswer answer = cas_->answer_of(method, reply.code, reply.why, false);
    if (reply.is_ok() && reply.messages.size() != 1)
      answer = cas_->nonsense(method, "the answer is not an ActionResult");
    if (answer.state == State::done) answer.bytes = std::move(reply.messages.front());
    answers.answer(names[i].digest, std::move(answer));
  }
}

std::vector<RemoteAnswer> ReapiStore::put(const std::vector<RemoteFile>& files) {
  if (files.empty()) return {};
  const ReapiServer& known = cas_->server();
  if (known.state != State::done) return {files.size(), {known.state, {}, known.why}};
  if (!known.takes_no_results.empty()) return {files.size(), {State::refused, {}, known.takes_no_results}};
  BlobAnswers results, blobs;
  Blobs wanted;
  std::vector<const RemoteFile*> entries;
  for (const RemoteFile& file : files) {
    if (file.name.kind == RemoteKind::ac && results.ask(file.name.digest)) entries.push_back(&file);
    if (file.name.kind == RemoteKind::cas && blobs.ask(file.name.digest))
      wanted.push_back({{file.name.digest, file.bytes.size()}, file.bytes});
  }
  cas_->put(wanted, blobs);
  put_results(entries, results);
  std::vector<RemoteAnswer> answers;
  for (const RemoteFile& file : files)
    answers.push_back((file.name.kind == RemoteKind::ac ? results : blobs).take(file.name.digest));
  return answers;
}

// A server may want the Action and its Command before the result of it.
void ReapiStore::put_results(const std::vector<const RemoteFile*>& files, BlobAnswers& answers) {
  if (files.empty()) return;
  const std::string method = std::string(k_ac) + "UpdateActionResult";
  const std::string command = command_of_entries();
  std::vector<std::string> messages = {"", command};
  for (const RemoteFile* file : files)
    messages.push_back(action_of_entry(digest_of(command), file->name.digest));
  Blobs blobs;
  BlobAnswers uploads;
  for (const std::string& message : messages) {
    blobs.push_back({digest_of(message), message});
    uploads.ask(blobs.back().digest.hash);
  }
  cas_->put(blobs, uploads);
  std::vector<GrpcCall> calls;
  std::vector<const RemoteFile*> sent;
  for (size_t i = 0; i < files.size(); ++i) {
    const ReapiDigest& action = blobs[i + 2].digest;
    RemoteAnswer uploaded = uploads.take(action.hash);
    if (uploaded.state != State::done) {
      answers.answer(files[i]->name.digest, std::move(uploaded));
      continue;
    }
    calls.push_back(ReapiCas::unary(method, render_update_result(cas_->instance(), action, files[i]->bytes)));
    sent.push_back(files[i]);
  }
  const auto replies = cas_->channel().call(calls);
  for (size_t i = 0; i < sent.size(); ++i)
    answers.answer(sent[i]->name.digest, cas_->answer_of(method, replies[i].code, replies[i].why, true));
}

}  // namespace

Result<std::unique_ptr<RemoteStore>> open_reapi_store(HttpOptions options, const FileReader& files) {
  DSBUILD_TRY(cas, open_reapi_cas(std::move(options), files));
  return std::make_unique<ReapiStore>(std::move(cas));
}

}  // namespace dsbuild
