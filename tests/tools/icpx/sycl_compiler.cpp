#include "sycl_compiler.h"

#include <dlfcn.h>

#include <cstdint>
#include <stdexcept>

#include "files.h"

namespace icpx {
namespace {

// What libsycl.so and libsycl-jit.so of one release say to each other, in memory: sycl-jit/common/include of
// DPC++'s sources (github.com/intel/llvm, Apache-2.0 WITH LLVM-exception). Another release may have another.
struct SourceFile {
  const char* path;
  const char* text;
};
template <class T>
struct Span {
  const T* first;
  size_t size;
};
template <class T>
struct Array {
  T* items;
  size_t size;

  const T* begin() const { return items; }
  const T* end() const { return items + size; }
};
struct Text {
  char* bytes;

  std::string str() const { return bytes == nullptr ? "" : bytes; }
};
struct JitBinary {
  uint32_t format;
  uint64_t address_bits;
  const char* bytes;
  uint64_t size;
};
struct JitValue {
  Text name;
  bool is_number;
  uint32_t number;
  Array<char> bytes;
};
struct JitProperties {
  Text name;
  Array<JitValue> values;
};
struct JitImage {
  JitBinary binary;
  Array<Text> symbols;
  Array<JitProperties> properties;
};
struct JitResult {
  int error;
  Array<JitImage> images;
  Text options;
  Array<char> ir;
  Text log;

  // Returned in memory, as theirs is, for it has a destructor. What it points to goes with the process.
  ~JitResult() {}
};
constexpr uint32_t k_spirv = 2;
using CompileSycl = JitResult (*)(SourceFile, Span<SourceFile> headers, Span<const char*> arguments,
                                  Span<char> saved_ir, bool save_ir, uint32_t format);

CompileSycl open_compiler(const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  void* function = dlsym(handle, "compileSYCL");
  if (function == nullptr) throw std::runtime_error(library + " has no compileSYCL");
  return reinterpret_cast<CompileSycl>(function);
}

PropertySet read_set(const JitProperties& jit) {
  PropertySet set{jit.name.str(), {}};
  for (const JitValue& value : jit.values)
    set.properties.push_back(
        {value.name.str(), value.is_number, value.number, {value.bytes.begin(), value.bytes.end()}});
  return set;
}

DeviceImage read_image(const JitImage& jit) {
  DeviceImage image{{jit.binary.bytes, jit.binary.size}, {}, {}};
  for (const Text& symbol : jit.symbols)
    image.kernels.push_back(symbol.str());
  for (const JitProperties& set : jit.properties)
    image.property_sets.push_back(read_set(set));
  return image;
}

}  // namespace

Compilation compile_sycl(const std::string& library, const std::string& source,
                         const std::vector<std::string>& arguments) {
  const CompileSycl compile = open_compiler(library);
  const std::string text = read_file(source);
  std::vector<const char*> words;
  for (const std::string& argument : arguments)
    words.push_back(argument.c_str());
  const JitResult result =
      compile({source.c_str(), text.c_str()}, {}, {words.data(), words.size()}, {}, false, k_spirv);
  Compilation compilation{result.error == 0, result.log.str(), {}};
  for (const JitImage& image : result.images)
    compilation.images.push_back(read_image(image));
  return compilation;
}

}  // namespace icpx
