#include "remote/s3_url.h"

#include <catch2/catch.hpp>
#include <map>

namespace dsbuild {
namespace {

using Variables = std::map<std::string, std::string>;

Result<S3Place> parse(const std::string& url, const Variables& variables = {}) {
  return parse_s3_url(url, [&](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? "" : found->second;
  });
}

// "https://host/root" of where requests go.
std::string address(const std::string& url, const Variables& variables = {}) {
  const S3Server server = server_of(parse(url, variables).value());
  return server.scheme + "://" + server.host + server.root;
}

}  // namespace

// Amazon S3 User Guide, "Virtual hosting of buckets", and "Amazon S3 endpoints" of the General Reference.
TEST_CASE("AWS has a host for each bucket and region") {
  CHECK(address("s3://amzn-example/a?region=us-west-2") == "https://amzn-example.s3.us-west-2.amazonaws.com");
  CHECK(address("s3://amzn-example?region=us-west-2&style=path") ==
        "https://s3.us-west-2.amazonaws.com/amzn-example");
  CHECK(address("s3://amzn-example") == "https://amzn-example.s3.us-east-1.amazonaws.com");
  CHECK(address("s3://amzn-example", {{"AWS_REGION", "cn-north-1"}, {"AWS_DEFAULT_REGION", "eu-west-1"}}) ==
        "https://amzn-example.s3.cn-north-1.amazonaws.com.cn");
  CHECK(aws_host("sts", "eu-west-1") == "sts.eu-west-1.amazonaws.com");
}

TEST_CASE("a bucket with a dot has no certificate of its own") {
  CHECK(address("s3://example.org") == "https://s3.us-east-1.amazonaws.com/example.org");
  CHECK(address("s3://example.org?style=virtual") == "https://example.org.s3.us-east-1.amazonaws.com");
}

TEST_CASE("an endpoint is of a server that has the bucket in its path") {
  CHECK(address("s3://team?endpoint=https://MinIO.example.org:9000") ==
        "https://minio.example.org:9000/team");
  CHECK(address("s3://team?endpoint=https://minio.example.org:443/") == "https://minio.example.org/team");
  CHECK(address("s3://team?endpoint=http%3A%2F%2F[::1]:80&style=virtual") == "http://team.[::1]");
  CHECK(address("s3://team?endpoint=http://h:443") == "http://h:443/team");
  CHECK(address("s3://team", {{"AWS_ENDPOINT_URL", "http://a"}, {"AWS_ENDPOINT_URL_S3", "http://b"}}) ==
        "http://b/team");
}

TEST_CASE("a prefix is decoded, and has no slashes at its ends") {
  CHECK(parse("s3://team//a/b//")->prefix == "a/b");
  CHECK(parse("s3://team/a%20b%2Fc%C3%A4%")->prefix == "a b/c\xc3\xa4%");
  CHECK(parse("s3://team/100%25")->prefix == "100%");
  CHECK(parse("s3://team?region=eu-west-1")->prefix.empty());
}

TEST_CASE("what is no place in S3 is refused, and not shown") {
  for (const char* url :
       {"s3://", "s3:///prefix", "s3://ab", "s3://a..b", "s3://user:word@team", "s3://team/../x",
        "s3://team/%2e%2e/x", "s3://team?region=a.b", "s3://team?endpoint=ftp://h",
        "s3://team?endpoint=https://h/path", "s3://team?style=both", "s3://team?word"}) {
    INFO(url);
    const auto place = parse(url);
    REQUIRE_FALSE(place);
    CHECK(place.error().code == "bad_remote_url");
    CHECK((place.error().where + place.error().what).find("word@") == std::string::npos);
  }
}

}  // namespace dsbuild
