#include "answer.h"

#include <nlohmann/json.hpp>

namespace dsbuild {
namespace {

using Json = nlohmann::json;

constexpr int k_schema = 1;

struct OwnedError : dsbuild_error {
  explicit OwnedError(const Error& from) : dsbuild_error{}, message(from) {
    size = sizeof(dsbuild_error);
    exit = static_cast<int>(from.exit);
    code = message.code.c_str();
    where = message.where.c_str();
    what = message.what.c_str();
    fix = message.fix.c_str();
  }
  const Message message;
};

std::unique_ptr<OwnedOp> op_of(const Json& json) {
  auto op = std::make_unique<OwnedOp>();
  const auto text = [&](const char* key) { return op->keep(json.at(key).get<std::string>()); };
  const auto list = [&](const char* key) { return op->keep(json.at(key).get<std::vector<std::string>>()); };
  std::vector<dsbuild_coverage> coverage;
  for (const Json& row : json.at("coverage")) {
    const auto field = [&](const char* key) { return op->keep(row.at(key).get<std::string>()); };
    coverage.push_back({field("gpu"), field("runs"), field("by"), row.at("module").get<int>()});
  }
  op->value = {.size = sizeof(dsbuild_op),
               .name = text("op"),
               .pack = text("pack"),
               .path = text("path"),
               .module = text("module"),
               .from = text("from"),
               .archs = list("archs"),
               .exports = list("exports"),
               .coverage = op->keep(coverage),
               .passed_over = list("passed_over"),
               .edges_run = json.at("edges_run").get<int>()};
  return op;
}

Error error_of(const Json& json, int exit) {
  const auto text = [&](const char* key) { return json.at(key).get<std::string>(); };
  return {{text("code"), text("where"), text("what"), text("fix")}, static_cast<Exit>(exit)};
}

Error no_answer(const ProgramAnswer& answer, const std::string& program) {
  const int code = answer.exit_code.value_or(0);
  const std::string how = code > 128 ? "was ended by signal " + std::to_string(code - 128)
                                     : "ended with exit code " + std::to_string(code);
  return make_error(code > 128 ? static_cast<Exit>(code) : Exit::internal, "program_failed", program,
                    (answer.exit_code ? how : "ended") + " and gave no answer that this libdsbuild reads",
                    "Its own words are on stderr or went to on_message; is it of libdsbuild's version?");
}

}  // namespace

const char* OwnedOp::keep(std::string text) {
  return texts_.emplace_back(std::move(text)).c_str();
}

const char* const* OwnedOp::keep(const std::vector<std::string>& texts) {
  std::vector<const char*>& list = lists_.emplace_back();
  for (const std::string& text : texts)
    list.push_back(keep(text));
  list.push_back(nullptr);
  return list.data();
}

const dsbuild_coverage* const* OwnedOp::keep(const std::vector<dsbuild_coverage>& rows) {
  for (const dsbuild_coverage& row : rows)
    row_list_.push_back(&rows_.emplace_back(row));
  row_list_.push_back(nullptr);
  return row_list_.data();
}

Result<std::unique_ptr<OwnedOp>> read_answer(const ProgramAnswer& answer, const std::string& program) {
  try {
    const Json json = Json::parse(answer.out);
    const bool is_ours = json.at("schema").get<int>() == k_schema;
    const int exit = answer.exit_code.value_or(static_cast<int>(Exit::failed));
    if (is_ours && json.contains("error") && exit != 0)
      return tl::unexpected<Error>(error_of(json.at("error"), exit));
    if (is_ours && answer.exit_code.value_or(0) == 0) return op_of(json);
  } catch (const Json::exception&) {
    return tl::unexpected<Error>(no_answer(answer, program));
  }
  return tl::unexpected<Error>(no_answer(answer, program));
}

dsbuild_error* make_c_error(const Error& error) {
  return new OwnedError(error);
}

void free_c_error(dsbuild_error* error) {
  delete static_cast<OwnedError*>(error);
}

}  // namespace dsbuild
