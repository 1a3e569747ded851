#include "device_image.h"

#include <stdexcept>

namespace icpx {
namespace {

// What begins LLVM's bitcode. As in icpx's objects, there are no images yet for those who look for them.
constexpr const char* k_magic = "BC\xc0\xde";

class Writer {
 public:
  explicit Writer(std::string begin) : bytes_(std::move(begin)) {}
  void number(uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(const std::string& text) {
    number(text.size());
    bytes_ += text;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(const std::string& bytes) : bytes_(bytes) {}
  bool at_end() const { return next_ == bytes_.size(); }
  uint64_t number() {
    uint64_t value = 0;
    take(sizeof value).copy(reinterpret_cast<char*>(&value), sizeof value);
    return value;
  }
  std::string text() { return take(number()); }
  void expect(const std::string& begin) {
    if (take(begin.size()) != begin)
      throw std::runtime_error("a section of device images is another compiler's");
  }

 private:
  std::string take(uint64_t size) {
    if (size > bytes_.size() - next_) throw std::runtime_error("a section of device images is cut short");
    next_ += size;
    return bytes_.substr(next_ - size, size);
  }

  const std::string& bytes_;
  size_t next_ = 0;
};

void write_image(Writer& out, const DeviceImage& image) {
  out.text(image.bytes);
  out.number(image.kernels.size());
  for (const std::string& kernel : image.kernels)
    out.text(kernel);
  out.number(image.property_sets.size());
  for (const PropertySet& set : image.property_sets) {
    out.text(set.name);
    out.number(set.properties.size());
    for (const Property& property : set.properties) {
      out.text(property.name);
      out.number(property.is_number ? 1 : 0);
      out.number(property.number);
      out.text(property.bytes);
    }
  }
}

DeviceImage read_image(Reader& in) {
  DeviceImage image{in.text(), {}, {}};
  for (uint64_t left = in.number(); left > 0; --left)
    image.kernels.push_back(in.text());
  for (uint64_t sets = in.number(); sets > 0; --sets) {
    PropertySet& set = image.property_sets.emplace_back(PropertySet{in.text(), {}});
    for (uint64_t left = in.number(); left > 0; --left) {
      Property& property = set.properties.emplace_back();
      property.name = in.text();
      property.is_number = in.number() == 1;
      property.number = static_cast<uint32_t>(in.number());
      property.bytes = in.text();
    }
  }
  return image;
}

}  // namespace

std::string pack(const std::vector<DeviceImage>& images) {
  Writer out(k_magic);
  for (const DeviceImage& image : images)
    write_image(out, image);
  return out.bytes();
}

std::vector<DeviceImage> unpack(const std::string& bytes) {
  std::vector<DeviceImage> images;
  Reader in(bytes);
  if (!bytes.empty()) in.expect(k_magic);
  while (!in.at_end())
    images.push_back(read_image(in));
  return images;
}

}  // namespace icpx
