#include "register_images.h"

#include <sstream>

namespace icpx {
namespace {

// Makes the text; labels are numbered.
class Assembly {
 public:
  std::string label() { return ".L" + std::to_string(next_++); }
  void line(const std::string& text) { out_ << text << '\n'; }
  void quad(const std::string& value) { line(".quad " + value); }
  void quad(uint64_t value) { quad(std::to_string(value)); }

  // Bytes in a section of constants, a zero behind them; returns their label.
  std::string bytes(const std::string& value) {
    const std::string name = label();
    constants_ << name << ":\n";
    for (const char c : value)
      constants_ << ".byte " << static_cast<unsigned>(static_cast<unsigned char>(c)) << '\n';
    constants_ << ".byte 0\n";
    return name;
  }

  std::string str() const {
    return out_.str() + ".section .rodata,\"a\",@progbits\n" + constants_.str() +
           ".section .note.GNU-stack,\"\",@progbits\n";
  }

 private:
  std::ostringstream out_, constants_;
  int next_ = 0;
};

struct Range {
  std::string begin, end;
};

// Each of `items` by write(item) between two labels.
template <class Items, class Write>
Range table(Assembly& a, const Items& items, const Write& write) {
  Range range{a.label(), a.label()};
  a.line(range.begin + ":");
  for (const auto& item : items)
    write(item);
  a.line(range.end + ":");
  return range;
}

void write_property(Assembly& a, const Property& p) {
  constexpr uint64_t number = 1, byte_array = 2;
  a.quad(a.bytes(p.name));
  a.quad(p.is_number ? "0" : a.bytes(p.bytes));
  a.quad(p.is_number ? number : byte_array);  // 4 bytes, and 4 of padding
  a.quad(p.is_number ? p.number : p.bytes.size());
}

Range write_property_sets(Assembly& a, const DeviceImage& image) {
  std::vector<Range> properties;
  for (const PropertySet& set : image.property_sets)
    properties.push_back(table(a, set.properties, [&](const Property& p) { write_property(a, p); }));
  size_t next = 0;
  return table(a, image.property_sets, [&](const PropertySet& set) {
    a.quad(a.bytes(set.name));
    a.quad(properties[next].begin);
    a.quad(properties[next++].end);
  });
}

Range write_entries(Assembly& a, const DeviceImage& image) {
  return table(a, image.kernels, [&](const std::string& kernel) {
    a.quad(0);
    a.quad(a.bytes(kernel));
    a.quad(0);
    a.quad(0);
  });
}

Range write_bytes(Assembly& a, const LinkedImage& image) {
  a.line(".section \"__CLANG_OFFLOAD_BUNDLE__sycl-" + image.target + "\",\"a\",@progbits");
  a.line(".p2align 4");
  return table(a, std::vector<std::string>{image.file},
               [&](const std::string& file) { a.line(".incbin \"" + file + "\""); });
}

void write_pointers(Assembly& a, const Range& range) {
  a.quad(range.begin);
  a.quad(range.end);
}

void write_function(Assembly& a, const std::string& array, const std::string& callee,
                    const std::string& images) {
  const std::string name = a.label();
  a.line(".text");
  a.line(name + ":");
  a.line("leaq " + images + "(%rip), %rdi");
  a.line("jmp " + callee + "@PLT");
  a.line(".section " + array + ",\"aw\"");
  a.line(".p2align 3");
  a.quad(name);
}

}  // namespace

std::string registration(const std::vector<LinkedImage>& images) {
  Assembly a;
  std::vector<Range> bytes, entries, sets;
  for (const LinkedImage& image : images)
    bytes.push_back(write_bytes(a, image));
  a.line(".section .data.rel.ro,\"aw\",@progbits");
  a.line(".p2align 4");
  for (const LinkedImage& image : images) {
    entries.push_back(write_entries(a, image.image));
    sets.push_back(write_property_sets(a, image.image));
  }
  const std::string none = a.bytes("");
  size_t next = 0;
  const Range records = table(a, images, [&](const LinkedImage& image) {
    // Version 3 of the record, kind 4: SYCL. Its format is for the runtime to find out.
    a.line(".byte 3, 0, 4, 0, 0, 0, 0, 0");
    a.quad(a.bytes(image.target));
    a.quad(none);  // options of a compile at run time
    a.quad(none);  // and of a link
    write_pointers(a, bytes[next]);
    write_pointers(a, entries[next]);
    write_pointers(a, sets[next++]);
  });
  const std::string all = a.label();
  a.line(all + ":");
  a.line(".short 1, " + std::to_string(images.size()) + ", 0, 0");
  a.quad(records.begin);
  a.quad(0);
  a.quad(0);
  a.line(".section .tgtimg,\"aw\",@progbits");
  for (const Range& range : bytes) {
    a.quad(range.begin);
    a.quad(range.end + " - " + range.begin);
  }
  write_function(a, ".init_array", "__sycl_register_lib", all);
  write_function(a, ".fini_array", "__sycl_unregister_lib", all);
  return a.str();
}

}  // namespace icpx
