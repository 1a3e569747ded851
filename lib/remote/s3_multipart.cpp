#include "remote/s3_multipart.h"

#include <algorithm>

#include "remote/s3_answer.h"
#include "remote/xml_text.h"

namespace dsbuild {
namespace {

using State = RemoteAnswer::State;

class Upload {
 public:
  Upload(S3Session& session, const std::string& key, const AwsCredentials& credentials)
      : session_(session), key_(key), credentials_(credentials) {}

  RemoteAnswer put(std::string_view bytes) {
    RemoteAnswer answer = create();
    if (answer.state != State::done) return answer;
    answer = put_parts(bytes);
    if (answer.state == State::done) answer = complete();
    if (answer.state != State::done)
      session_.send_at_last({.verb = HttpVerb::remove, .key = key_, .query = {{"uploadId", id_}}},
                            credentials_);
    return answer;
  }

 private:
  RemoteAnswer answer_of(HttpResponse response) const {
    return answer_of_s3(HttpVerb::put, std::move(response), session_.name());
  }
  RemoteAnswer nonsense(const char* what) const { return {State::failed, {}, session_.name() + ": " + what}; }

  RemoteAnswer create() {
    HttpResponse response =
        session_.send({{.verb = HttpVerb::post, .key = key_, .query = {{"uploads", ""}}}}, credentials_)
            .front();
    id_ = xml_text(response.body, "UploadId");
    if (response.is_success() && id_.empty()) return nonsense("its answer names no upload");
    return answer_of(std::move(response));
  }

  RemoteAnswer put_parts(std::string_view bytes) {
    std::vector<S3Request> requests;
    for (size_t begin = 0; begin < bytes.size(); begin += k_part_bytes)
      requests.push_back({HttpVerb::put,
                          key_,
                          {{"partNumber", std::to_string(requests.size() + 1)}, {"uploadId", id_}},
                          bytes.substr(begin, k_part_bytes)});
    for (HttpResponse& response : session_.send(requests, credentials_)) {
      const std::string tag = response.header("etag");
      RemoteAnswer answer = answer_of(std::move(response));
      if (answer.state != State::done) return answer;
      if (tag.empty()) return nonsense("it gives a part no ETag");
      tags_.push_back(tag);
    }
    return {State::done, {}, {}};
  }

  // Its status is sent before its end is known: an error may follow 200.
  RemoteAnswer complete() {
    std::string list = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
    for (size_t i = 0; i < tags_.size(); ++i)
      list += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>" + xml_escape(tags_[i]) +
              "</ETag></Part>";
    list += "</CompleteMultipartUpload>";
    HttpResponse response =
        session_.send({{HttpVerb::post, key_, {{"uploadId", id_}}, list}}, credentials_).front();
    const std::string code = xml_text(response.body, "Code");
    const bool is_done = !xml_text(response.body, "ETag").empty();
    if (response.is_success() && !is_done) {
      RemoteAnswer answer = nonsense("it could not put the parts together");
      if (!code.empty()) answer.why += ", " + visible(code);
      return answer;
    }
    return answer_of(std::move(response));
  }

  S3Session& session_;
  const std::string& key_;
  const AwsCredentials& credentials_;
  std::string id_;
  std::vector<std::string> tags_;
};

}  // namespace

RemoteAnswer put_in_parts(S3Session& session, const std::string& key, std::string_view bytes,
                          const AwsCredentials& credentials) {
  return Upload(session, key, credentials).put(bytes);
}

}  // namespace dsbuild
