// Collects the messages of a command and renders them as SARIF 2.1.0, for GitHub's code scanning and for
// editors.
#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace dsbuild {

class SarifLog {
 public:
  // `page`: the text of docs/reference/messages.md, whose examples become part of the rules' help
  // (report/message_help.h).
  SarifLog(Repository repository, std::string page)
      : repository_(std::move(repository)), page_(std::move(page)) {
    if (repository_.root.empty()) repository_.root = repository_.current;
  }

  void add(const ToolDiagnostic& told);
  // `file`: the place if the message names no file.
  void add(const Warning& warning, const Path& file = {}) { add("warning", warning, file); }
  void add(const Error& error, const Path& file = {}) { add("error", error, file); }
  // For an edge that failed without a message of its tools.
  void add(const EdgeFailure& failure);

  std::string render(int exit_code) const;

 private:
  void add(const char* level, const Message& message, const Path& file);
  void add_result(const std::string& rule, const std::string& level, const std::string& text,
                  const Place& place);

  Repository repository_;
  std::string page_;
  std::vector<std::string> rules_;  // codes of the messages
  Json results_ = Json::array();
};

}  // namespace dsbuild
