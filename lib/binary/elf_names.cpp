#include "binary/elf_names.h"

#include <algorithm>
#include <map>
#include <vector>

#include "binary/bytes.h"
#include "binary/elf.h"

namespace dsbuild {
namespace {

constexpr size_t k_header = 64, k_section = 64, k_segment = 56, k_symbol = 24;
constexpr uint32_t k_symbol_table = 2, k_string_table = 3,
                   k_without_bytes = 8;  // SHT_SYMTAB, SHT_STRTAB, SHT_NOBITS

struct Table {
  uint64_t offset = 0;
  uint64_t count = 0;
};

struct Section {
  std::string header;  // its 64 bytes
  std::string bytes;
  std::map<uint64_t, uint64_t> names;  // of a string table: where each name was → is
  uint64_t begin = 0, end = 0;         // in the file as it was
  uint64_t new_begin = 0, new_end = 0;
};

template <class T>
void store(std::string& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

constexpr uint64_t k_most_alignment = 4096;

class Renamer {
 public:
  Renamer(std::string_view file, const OtherName& other) : file_(file), other_(other) {}

  std::optional<std::string> run() {
    if (!read() || !rename() || !refer()) return std::nullopt;
    return write();
  }

 private:
  template <class T>
  static T number(std::string_view bytes, size_t offset) {
    return load<T>(as_bytes_of(bytes), offset);
  }

  bool has(uint64_t offset, uint64_t size) const {
    return slice(as_bytes_of(file_), offset, size).has_value();
  }

  bool read() {
    if (file_.size() < k_header || !is_elf(as_bytes_of(file_))) return false;
    segments_ = {number<uint64_t>(file_, 32), number<uint16_t>(file_, 56)};
    headers_ = {number<uint64_t>(file_, 40), number<uint16_t>(file_, 60)};
    if (segments_.count > 0 && number<uint16_t>(file_, 54) != k_segment) return false;
    if (number<uint16_t>(file_, 58) != k_section || headers_.count == 0) return false;
    if (!has(headers_.offset, headers_.count * k_section) ||
        !has(segments_.offset, segments_.count * k_segment))
      return false;
    for (uint64_t i = 0; i < headers_.count; ++i) {
      Section section;
      section.header = file_.substr(headers_.offset + i * k_section, k_section);
      const auto offset = number<uint64_t>(section.header, 24), size = number<uint64_t>(section.header, 32);
      if (number<uint64_t>(section.header, 48) > k_most_alignment) return false;
      const bool has_bytes = number<uint32_t>(section.header, 4) != k_without_bytes && i > 0;
      if (has_bytes && !has(offset, size)) return false;
      if (has_bytes) section.bytes = file_.substr(offset, size);
      section.begin = offset;
      section.end = offset + section.bytes.size();
      sections_.push_back(std::move(section));
    }
    return true;
  }

  uint32_t type(const Section& section) const { return number<uint32_t>(section.header, 4); }

  bool rename() {
    for (Section& section : sections_)
      if (type(section) == k_string_table && !rename(section)) return false;
    return true;
  }

  bool rename(Section& table) {
    std::string renamed;
    size_t at = 0;
    while (at < table.bytes.size()) {
      const size_t end = table.bytes.find('\0', at);
      if (end == std::string::npos) return false;
      const auto name = other_(std::string_view(table.bytes).substr(at, end - at));
      if (!name) return false;
      table.names[at] = renamed.size();
      renamed += *name + '\0';
      at = end + 1;
    }
    table.bytes = std::move(renamed);
    store<uint64_t>(table.header, 32, table.bytes.size());
    return true;
  }

  // The name at `offset` of the table; linkers let one name be another's end, ptxas does not.
  bool refer(std::string& bytes, size_t offset, uint64_t table) const {
    if (table >= sections_.size()) return false;
    const auto name = sections_[table].names.find(number<uint32_t>(bytes, offset));
    if (name == sections_[table].names.end()) return false;
    store<uint32_t>(bytes, offset, static_cast<uint32_t>(name->second));
    return true;
  }

  bool refer() {
    const auto names = number<uint16_t>(file_, 62);
    for (Section& section : sections_) {
      if (!refer(section.header, 0, names)) return false;
      if (type(section) != k_symbol_table) continue;
      const auto table = number<uint32_t>(section.header, 40);
      if (section.bytes.size() % k_symbol != 0) return false;
      for (size_t at = 0; at < section.bytes.size(); at += k_symbol)
        if (!refer(section.bytes, at, table)) return false;
    }
    return true;
  }

  std::vector<Section*> in_order() {
    std::vector<Section*> order;
    for (size_t i = 1; i < sections_.size(); ++i)
      order.push_back(&sections_[i]);
    std::stable_sort(order.begin(), order.end(),
                     [](const Section* a, const Section* b) { return a->begin < b->begin; });
    return order;
  }

  std::optional<std::string> write() {
    std::string out(file_.substr(0, k_header));
    for (Section* section : in_order()) {
      out.resize(aligned(out.size(), number<uint64_t>(section->header, 48)), '\0');
      section->new_begin = out.size();
      out += section->bytes;
      section->new_end = out.size();
      store<uint64_t>(section->header, 24, section->new_begin);
    }
    out.resize(aligned(out.size(), 8), '\0');
    const uint64_t headers = out.size();
    store<uint64_t>(out, 40, headers);
    for (const Section& section : sections_)
      out += section.header;
    if (segments_.count == 0) return out;
    const uint64_t segments = out.size();
    store<uint64_t>(out, 32, segments);
    for (uint64_t i = 0; i < segments_.count; ++i) {
      auto segment = write_segment(i, segments);
      if (!segment) return std::nullopt;
      out += *segment;
    }
    return out;
  }

  // A segment is the segments' headers, or sections from the beginning of one to the end of another.
  std::optional<std::string> write_segment(uint64_t index, uint64_t segments) const {
    std::string segment(file_.substr(segments_.offset + index * k_segment, k_segment));
    const auto begin = number<uint64_t>(segment, 8), size = number<uint64_t>(segment, 32);
    const auto in_memory = number<uint64_t>(segment, 40);
    if (begin == segments_.offset) {
      store<uint64_t>(segment, 8, segments);
      return segment;
    }
    const Section* first = nullptr;
    const Section* last = nullptr;
    for (const Section& section : sections_) {
      if (&section == &sections_.front()) continue;
      if (section.begin == begin && !first) first = &section;
      if (section.end == begin + size && !section.bytes.empty()) last = &section;
    }
    if (!first || (size > 0 && !last)) return std::nullopt;
    const uint64_t new_size = size > 0 ? last->new_end - first->new_begin : 0;
    store<uint64_t>(segment, 8, first->new_begin);
    store<uint64_t>(segment, 32, new_size);
    store<uint64_t>(segment, 40, in_memory - size + new_size);
    return segment;
  }

  const std::string_view file_;
  const OtherName& other_;
  Table headers_, segments_;
  std::vector<Section> sections_;
};

}  // namespace

std::optional<std::string> with_elf_names(std::string_view file, const OtherName& other) {
  const OtherName same = [](std::string_view name) { return std::string(name); };
  if (Renamer(file, same).run() != file) return std::nullopt;
  return Renamer(file, other).run();
}

}  // namespace dsbuild
