#include "preprocessor.h"

#include <sys/stat.h>

#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace fake {
namespace {

bool is_of_name(char c) {
  return isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == text.npos ? "" : std::string(text.substr(begin, end - begin + 1));
}

std::string word_at(const std::string& text, size_t at) {
  size_t end = at;
  while (end < text.size() && is_of_name(text[end]))
    ++end;
  return text.substr(at, end - at);
}

class Preprocessor {
 public:
  explicit Preprocessor(Preprocessing& job) : job_(job) {}

  std::string run(const std::string& source) {
    job_.read.push_back(source);
    mark(0, source);
    for (const std::string& name : job_.forced)
      include(name, "", true, source, 0);
    take_file(source, 0);
    return std::move(text_);
  }

 private:
  void mark(size_t line, const std::string& file, const char* flags = "") {
    text_ += "# " + std::to_string(line) + " \"" + file + "\"" + flags + "\n";
  }

  void note_read(const std::string& file) {
    if (!has(job_.read, file)) job_.read.push_back(file);
  }

  // gcc takes two files for one if their sizes, times and bytes are equal.
  bool was_once(const std::string& file, const std::string& text) {
    struct stat status = {};
    stat(file.c_str(), &status);
    const std::string identity = std::to_string(status.st_mtime) + " " + text;
    if (once_.count(identity) > 0) return true;
    if (text.find("#pragma once") != text.npos) once_.insert(identity);
    return false;
  }

  void take_file(const std::string& file, size_t depth) {
    constexpr size_t k_deepest = 100;
    if (depth > k_deepest) fail(file + ":1:1: error: #include nested too deeply");
    const std::string text = read(file, "cc1plus");
    if (was_once(file, text)) return;
    mark(1, file, depth > 0 ? " 1" : "");
    take_text(text, file, depth);
  }

  void take_text(const std::string& text, const std::string& file, size_t depth) {
    size_t number = 0;
    const size_t outside = taken_.size();
    for (const std::string& line : split(text, '\n')) {
      ++number;
      const std::string bare = trimmed(line);
      if (!bare.empty() && bare[0] == '#')
        take_directive(trimmed(bare.substr(1)), file, number, depth);
      else if (is_taken())
        text_ += job_.keeps_comments ? expanded(line, file, number)
                                     : without_comment(expanded(line, file, number));
      if (is_taken() || bare.empty()) text_ += '\n';
    }
    if (taken_.size() != outside) fail(file + ":1:1: error: unterminated #if");
  }

  static std::string without_comment(const std::string& line) { return line.substr(0, line.find("//")); }

  bool is_taken() const {
    for (const auto& [taken, done] : taken_)
      if (!taken) return false;
    return true;
  }

  void take_directive(const std::string& text, const std::string& file, size_t number, size_t depth) {
    const std::string word = word_at(text, 0), rest = trimmed(text.substr(word.size()));
    if (word == "if" || word == "ifdef" || word == "ifndef") {
      const bool holds =
          is_taken() && (word == "if" ? value_of_condition(rest, file) != 0
                                      : (job_.macros.count(word_at(rest, 0)) > 0) == (word == "ifdef"));
      taken_.emplace_back(holds, holds || !is_taken());
    } else if (word == "elif" || word == "else") {
      if (taken_.empty()) fail(file + ": error: #" + word + " without #if");
      auto& [taken, done] = taken_.back();
      taken = true;
      taken = !done && (word == "else" || value_of_condition(rest, file) != 0);
      done = done || taken;
    } else if (word == "endif") {
      if (!taken_.empty()) taken_.pop_back();
    } else if (!is_taken()) {
      return;
    } else if (word == "include") {
      take_include(rest, file, number, depth);
    } else if (word == "define") {
      const std::string name = word_at(rest, 0);
      job_.macros[name] = trimmed(without_comment(rest.substr(name.size())));
    } else if (word == "undef") {
      job_.macros.erase(word_at(rest, 0));
    } else if (word == "error") {
      fail(file + ":" + std::to_string(number) + ":2: error: #error " + rest);
    } else if (word == "pragma" && rest != "once") {
      text_ += "#pragma " + rest;
    }
  }

  void take_include(const std::string& rest, const std::string& file, size_t number, size_t depth) {
    const std::string what =
        rest.empty() || rest[0] == '"' || rest[0] == '<' ? rest : expanded(rest, file, number);
    const size_t end = what.find(what[0] == '<' ? '>' : '"', 1);
    if (what.size() < 2 || end == what.npos)
      fail(file + ":" + std::to_string(number) + ":2: error: #include expects a name");
    include(what.substr(1, end - 1), file, what[0] == '"', file, depth + 1);
    mark(number + 1, file, " 2");
    text_.pop_back();  // the line of the directive ends it
  }

  // The text of one that is precompiled, a file or the first in a folder that can be taken; "" for none.
  std::string precompiled(const std::string& path) const {
    if (!job_.takes_precompiled) return "";
    Words files = {path + ".gch"};
    for (const std::string& name : names_in(path + ".gch"))
      files.push_back(path + ".gch/" + name);
    for (const std::string& file : files)
      if (const std::string text = is_file(file) ? read_or_empty(file) : "";
          starts_with(text, k_precompiled_begin))
        return text.substr(k_precompiled_begin.size());
    return "";
  }

  // gcc passes over what is not there, and over folders.
  bool is_taken_for(const std::string& path, const std::string& reader) const {
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0 && errno != ENOENT && errno != ENOTDIR)
      fail(reader + ": fatal error: " + path + ": " + strerror(errno));
    return is_file(path);
  }

  // "" where there is none.
  std::string find(const std::string& name, const std::string& from, bool is_quoted) const {
    if (starts_with(name, "/")) return is_file(name) ? name : "";
    for (const std::string& path : candidates(name, from, is_quoted))
      if (!precompiled(path).empty() || is_taken_for(path, from)) return path;
    return "";
  }

  Words candidates(const std::string& name, const std::string& from, bool is_quoted) const {
    Words folders;
    if (is_quoted) {
      folders.push_back(folder_of(from));
      folders.insert(folders.end(), job_.quoted.begin(), job_.quoted.end());
    }
    folders.insert(folders.end(), job_.folders.begin(), job_.folders.end());
    folders.insert(folders.end(), job_.system.begin(), job_.system.end());
    for (std::string& folder : folders)
      folder = folder.empty() ? name : folder + "/" + name;
    return folders;
  }

  void include(const std::string& name, const std::string& from, bool is_quoted, const std::string& reader,
               size_t depth) {
    const std::string path = find(name, from, is_quoted);
    if (path.empty()) {
      if (job_.passes_over_missing) return;
      fail(reader + ": fatal error: " + name + ": No such file or directory");
    }
    if (const std::string text = precompiled(path); !text.empty()) return take_text(text, path, depth);
    note_read(path);
    take_file(path, depth);
  }

  // ---- macros and conditions

  std::string expanded(const std::string& line, const std::string& file, size_t number,
                       size_t depth = 0) const {
    std::string out;
    for (size_t at = 0; at < line.size();) {
      if (line[at] == '"' && depth == 0) {
        const size_t end = std::min(line.find('"', at + 1), line.size() - 1);
        out += line.substr(at, end - at + 1);
        at = end + 1;
      } else if (line.compare(at, 2, "//") == 0) {
        return out + line.substr(at);
      } else if (!is_of_name(line[at])) {
        out += line[at++];
      } else {
        const std::string word = word_at(line, at);
        at += word.size();
        const auto macro = job_.macros.find(word);
        if (word == "__LINE__")
          out += std::to_string(number);
        else if (word == "__FILE__")
          out += '"' + file + '"';
        else if (macro == job_.macros.end() || depth > 20)
          out += word;
        else
          out += expanded(macro->second, file, number, depth + 1);
      }
    }
    return out;
  }

  long value_of_condition(const std::string& text, const std::string& file) {
    condition_ = without_comment(text);
    at_ = 0;
    file_ = file;
    return either();
  }

  bool take(std::string_view mark) {
    at_ = std::min(condition_.find_first_not_of(" \t", at_), condition_.size());
    if (condition_.compare(at_, mark.size(), mark) != 0) return false;
    at_ += mark.size();
    return true;
  }

  long either() {
    long value = both();
    while (take("||"))
      value = static_cast<long>(both() != 0) | static_cast<long>(value != 0);
    return value;
  }

  long both() {
    long value = compared();
    while (take("&&"))
      value = static_cast<long>(compared() != 0) & static_cast<long>(value != 0);
    return value;
  }

  long compared() {
    const long left = summed();
    if (take("==")) return static_cast<long>(left == summed());
    if (take("!=")) return static_cast<long>(left != summed());
    if (take(">=")) return static_cast<long>(left >= summed());
    if (take("<=")) return static_cast<long>(left <= summed());
    if (take(">")) return static_cast<long>(left > summed());
    if (take("<")) return static_cast<long>(left < summed());
    return left;
  }

  long summed() {
    long value = single();
    while (true) {
      if (take("+"))
        value += single();
      else if (take("-"))
        value -= single();
      else
        return value;
    }
  }

  long single() {
    if (take("!")) return static_cast<long>(single() == 0);
    if (take("(")) {
      const long value = either();
      take(")");
      return value;
    }
    take("");
    const std::string word = word_at(condition_, at_);
    at_ += std::max<size_t>(word.size(), 1);
    if (word == "defined") return asked_of_name();
    if (word == "__has_include") return asked_of_header();
    if (!word.empty() && isdigit(static_cast<unsigned char>(word[0])) != 0)
      return strtol(word.c_str(), nullptr, 0);
    const auto macro = job_.macros.find(word);
    return macro == job_.macros.end() ? 0 : strtol(expanded(macro->second, file_, 0).c_str(), nullptr, 0);
  }

  long asked_of_name() {
    const bool in_brackets = take("(");
    take("");
    const std::string name = word_at(condition_, at_);
    at_ += name.size();
    if (in_brackets) take(")");
    return static_cast<long>(job_.macros.count(name) > 0);
  }

  long asked_of_header() {
    take("(");
    take("");
    const char mark = condition_[at_] == '<' ? '>' : '"';
    const size_t end = std::min(condition_.find(mark, at_ + 1), condition_.size());
    const std::string name = condition_.substr(at_ + 1, end - at_ - 1);
    at_ = std::min(end + 1, condition_.size());
    take(")");
    return static_cast<long>(!find(name, file_, mark == '"').empty());
  }

  Preprocessing& job_;
  std::string text_, condition_, file_;
  size_t at_ = 0;
  std::set<std::string> once_;
  std::vector<std::pair<bool, bool>>
      taken_;  // of each open #if: whether this part of it counts, whether one did
};

}  // namespace

Preprocessing preprocessing_of(const Words& argv, const Words& own_folders) {
  Preprocessing job;
  const auto take = [&](size_t& i, std::string_view option, Words& into) {
    if (!starts_with(argv[i], option)) return false;
    if (argv[i].size() > option.size())
      into.push_back(argv[i].substr(option.size()));
    else if (i + 1 < argv.size())
      into.push_back(argv[++i]);
    return true;
  };
  Words defined, undefined, later;
  for (size_t i = 0; i < argv.size(); ++i) {
    if (take(i, "-iquote", job.quoted) || take(i, "-include", job.forced) ||
        take(i, "-isystem", job.system) || take(i, "-idirafter", later) || take(i, "-I", job.folders) ||
        take(i, "-D", defined) || take(i, "-U", undefined))
      continue;
    if (argv[i] == "-C" || argv[i] == "-CC") job.keeps_comments = true;
  }
  for (const std::string& word : defined) {
    const size_t equals = word.find('=');
    job.macros[word.substr(0, equals)] = equals == word.npos ? "1" : word.substr(equals + 1);
  }
  const std::string date = variable("SOURCE_DATE_EPOCH");
  job.macros["__DATE__"] = '"' + (date.empty() ? "Jan  1 1970" : date) + '"';
  for (const std::string& word : undefined)
    job.macros.erase(word);
  for (const std::string& folder : split(variable("CPATH"), ':'))
    if (!folder.empty()) job.folders.push_back(folder);
  for (const std::string& folder : split(variable("CPLUS_INCLUDE_PATH"), ':'))
    if (!folder.empty()) job.system.push_back(folder);
  job.system.insert(job.system.end(), own_folders.begin(), own_folders.end());
  job.system.insert(job.system.end(), later.begin(), later.end());
  return job;
}

std::string preprocess(const std::string& source, Preprocessing& job) {
  return Preprocessor(job).run(source);
}

namespace {

// Names that have the list of archs in them are in what real tools make as names, which can be exchanged.
// Noise has none.
std::string without_list_of_archs(std::string text) {
  constexpr std::string_view k_before = "_SM_";
  for (size_t at = 0; (at = text.find(k_before, at)) != text.npos;) {
    at += k_before.size();
    text.erase(at, text.find_first_not_of("0123456789_", at) - at);
  }
  return text;
}

}  // namespace

std::string code_of(const std::string& text) {
  constexpr std::string_view k_line = "__builtin_LINE()";
  std::string code;
  long number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    if (starts_with(line, "# ")) number = strtol(line.c_str() + 2, nullptr, 10) - 1;
    std::string bare =
        starts_with(line, "# ") ? "" : trimmed(std::string_view(line).substr(0, line.find("//")));
    for (size_t at = 0; (at = bare.find(k_line)) != bare.npos;)
      bare.replace(at, k_line.size(), std::to_string(number));
    if (!bare.empty()) code += without_list_of_archs(bare) + "\n";
  }
  return code;
}

}  // namespace fake
