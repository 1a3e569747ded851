#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "base.h"

namespace fake {
namespace {

// As much of JSON as Python's json.dumps writes.
class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  // Whether the next thing is that mark, which is passed.
  bool take(char mark) {
    while (at_ < text_.size() && (isspace(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == ','))
      ++at_;
    if (at_ >= text_.size() || text_[at_] != mark) return false;
    ++at_;
    return true;
  }

  std::string take_rest_of_text() {
    std::string text;
    while (at_ < text_.size() && text_[at_] != '"')
      text += text_[at_] == '\\' ? escaped() : std::string(1, text_[at_++]);
    ++at_;
    return text;
  }

  double take_number() {
    take('\0');
    for (const auto& [word, value] : {std::pair{"true", 1.0}, {"false", 0.0}, {"null", 0.0}})
      if (text_.compare(at_, std::string(word).size(), word) == 0)
        return at_ += std::string(word).size(), value;
    char* end = nullptr;
    const double value = strtod(text_.c_str() + at_, &end);
    at_ = std::max(at_ + 1, static_cast<size_t>(end - text_.c_str()));
    return value;
  }

  bool is_at_end() const { return at_ >= text_.size(); }

 private:
  std::string escaped() {
    const char c = text_[at_ + 1];
    at_ += 2;
    if (c == 'n') return "\n";
    if (c == 't') return "\t";
    if (c != 'u') return std::string(1, c);
    const unsigned long code = strtoul(text_.substr(at_, 4).c_str(), nullptr, 16);
    at_ += 4;
    return utf8(code);
  }

  static std::string utf8(unsigned long code) {
    if (code >= 0xDC80 && code <= 0xDCFF) return std::string(1, static_cast<char>(code - 0xDC00));
    if (code < 0x80) return std::string(1, static_cast<char>(code));
    if (code < 0x800) return {static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 63))};
    return {static_cast<char>(0xE0 | (code >> 12)), static_cast<char>(0x80 | ((code >> 6) & 63)),
            static_cast<char>(0x80 | (code & 63))};
  }

  const std::string& text_;
  size_t at_ = 0;
};

// The bytes of the character that begins there; 0 where they are no UTF-8.
size_t character_at(const std::string& text, size_t at) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(at);
  const size_t size = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  for (size_t i = 1; i < size; ++i)
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  return size;
}

}  // namespace

Settings::Settings(const std::string& file) {
  const std::string data = read_or_empty(file);
  Reader reader(data);
  if (!reader.take('{')) return;
  while (!reader.is_at_end() && reader.take('"')) {
    const std::string name = reader.take_rest_of_text();
    reader.take(':');
    if (reader.take('"')) {
      texts_[name] = reader.take_rest_of_text();
    } else if (reader.take('[')) {
      while (!reader.take(']') && reader.take('"'))
        lists_[name].push_back(reader.take_rest_of_text());
    } else if (reader.take('{')) {
      while (!reader.take('}') && reader.take('"')) {
        const std::string key = reader.take_rest_of_text();
        reader.take(':');
        objects_[name][key] = reader.take_number();
      }
    } else {
      numbers_[name] = reader.take_number();
    }
  }
}

std::string Settings::text(const std::string& name) const {
  const auto found = texts_.find(name);
  return found == texts_.end() ? "" : found->second;
}

double Settings::number(const std::string& name, double otherwise) const {
  const auto found = numbers_.find(name);
  return found == numbers_.end() ? otherwise : found->second;
}

Words Settings::list(const std::string& name) const {
  const auto found = lists_.find(name);
  return found == lists_.end() ? Words() : found->second;
}

double Settings::entry(const std::string& name, const std::string& key, double otherwise) const {
  const auto object = objects_.find(name);
  if (object == objects_.end()) return otherwise;
  const auto found = object->second.find(key);
  return found == object->second.end() ? otherwise : found->second;
}

std::string json(const std::string& text) {
  std::string out = "\"";
  for (size_t at = 0; at < text.size();) {
    const auto c = static_cast<unsigned char>(text[at]);
    const size_t size = character_at(text, at);
    char buffer[8];
    if (c == '\n' || c == '\t') {
      out += c == '\n' ? "\\n" : "\\t";
    } else if (size > 1) {
      out += text.substr(at, size);
    } else if (size == 0 || c < 0x20 || c == 0x7F) {
      snprintf(buffer, sizeof buffer, "\\u%04x", size == 0 ? 0xDC00U + c : c);
      out += buffer;
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += text[at];
    }
    at += std::max<size_t>(size, 1);
  }
  return out + "\"";
}

std::string json(const Words& words) {
  std::string out = "[";
  for (const std::string& word : words)
    out += (out.size() > 1 ? ", " : "") + json(word);
  return out + "]";
}

}  // namespace fake
