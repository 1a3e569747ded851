#include "binary/kernels.h"

#include <unordered_map>

#include "arch/amd.h"
#include "arch/intel.h"
#include "binary/bytes.h"
#include "binary/code_object.h"
#include "binary/elf.h"
#include "binary/intel_image.h"
#include "binary/stored_image.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_code = ".text.";
constexpr std::string_view k_info = ".nv.info";

// Attributes of .nv.info: a format, a number, and two bytes that are the value, or its size where it follows.
constexpr uint8_t k_sized_value = 4;      // EIFMT_SVAL
constexpr uint8_t k_min_stack = 0x12;     // EIATTR_MIN_STACK_SIZE: symbol, bytes
constexpr uint8_t k_registers = 0x2f;     // EIATTR_REGCOUNT: symbol, number
constexpr uint8_t k_api_version = 0x37;   // EIATTR_CUDA_API_VERSION: 0x82 is 13.0
constexpr uint8_t k_annotations = 0x55;   // EIATTR_ANNOTATIONS: pairs of a kind and an offset in the code
constexpr uint32_t k_spill = 1;           // "SpillRefill"
constexpr uint32_t k_says_spills = 0x82;  // since CUDA 13.0

constexpr uint8_t k_entry_flag = 0x10;  // STO_CUDA_ENTRY, in st_other

// Instructions have 16 bytes from 7.0 on.
constexpr uint64_t k_instruction_size = 16;
constexpr uint64_t k_store_local = 0x387;  // STL, in the lowest 12 bits
constexpr uint64_t k_load_local = 0x983;   // LDL

struct Attribute {
  uint8_t number = 0;
  Bytes value;
};

tl::unexpected<Error> bad_cubin(const std::string& name, const std::string& what) {
  return fail(Exit::failed, "bad_elf", name, "a cubin in it is damaged: " + what,
              "Build the file again, or check how it was copied.");
}

Result<std::vector<Attribute>> read_attributes(Bytes info, const std::string& name) {
  std::vector<Attribute> attributes;
  while (info.size() >= 4) {
    const auto size = load<uint16_t>(info, 2);
    const bool is_sized = load<uint8_t>(info, 0) == k_sized_value;
    const auto value = is_sized ? slice(info, 4, size) : info.subspan(2, 2);
    if (!value) return bad_cubin(name, "an attribute is larger than its section");
    attributes.push_back({load<uint8_t>(info, 1), *value});
    info = info.subspan(is_sized ? 4 + value->size() : 4);
  }
  return attributes;
}

// What a spill instruction moves, by its bits 73 to 75; nullopt for an instruction of another sort.
struct Spill {
  bool is_store = false;
  uint64_t bytes = 0;
};
std::optional<Spill> decode_spill(Bytes instruction) {
  const uint64_t operation = load<uint64_t>(instruction, 0) & 0xfff;
  if (operation != k_store_local && operation != k_load_local) return std::nullopt;
  constexpr uint64_t k_widths[] = {1, 1, 2, 2, 4, 8, 16, 0};
  return Spill{operation == k_store_local, k_widths[load<uint64_t>(instruction, 8) >> 9 & 7]};
}

// The functions of one cubin. What is known of them lies in sections of their names and in attributes that
// name their symbols.
class CubinReader {
 public:
  CubinReader(const ElfFile& elf, size_t size, const std::string& name)
      : elf_(elf), size_(size), name_(name), symbols_(elf.find(".symtab")) {}

  Result<std::vector<Kernel>> read() {
    find_functions();
    if (name_bytes_ > size_) return bad_cubin(name_, "the names of its functions overlap");
    mark_entries();
    measure_sections();
    for (const ElfSection& section : elf_.sections) {
      if (section.name == k_info) DSBUILD_CHECK(read_common_attributes(section.bytes));
      Kernel* kernel = function_of(section.name, ".nv.info.");
      if (kernel) DSBUILD_CHECK(read_own_attributes(section.bytes, *kernel));
    }
    return std::move(kernels_);
  }

 private:
  // Stops where names that overlap would take more memory than the file has.
  void find_functions() {
    for (const ElfSection& section : elf_.sections) {
      if (!section.name.starts_with(k_code)) continue;
      const std::string_view name = section.name.substr(k_code.size());
      if (!by_name_.emplace(name, kernels_.size()).second) continue;
      name_bytes_ += name.size();
      if (name_bytes_ > size_) return;
      Kernel kernel;
      kernel.name = name;
      kernel.bytes = section.size;
      // Where no attribute says it: the section's header does, in cubins of CUDA before 13.
      kernel.resources.registers = section.info >> 24;
      kernels_.push_back(std::move(kernel));
      code_.push_back(section.bytes);
    }
  }

  // The function that a section is about: ".nv.shared.NAME", say.
  Kernel* function_of(std::string_view section, std::string_view beginning) {
    if (!section.starts_with(beginning)) return nullptr;
    return function_named(section.substr(beginning.size()));
  }

  Kernel* function_named(std::string_view name) {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &kernels_[found->second];
  }

  void mark_entries() {
    for (uint32_t i = 0; symbols_; ++i) {
      const auto symbol = elf_symbol(elf_, *symbols_, i);
      if (!symbol) return;
      if ((symbol->other & k_entry_flag) == 0) continue;
      if (Kernel* kernel = function_named(symbol->name)) kernel->is_entry = true;
    }
  }

  void measure_sections() {
    for (const ElfSection& section : elf_.sections) {
      if (Kernel* of_shared = function_of(section.name, ".nv.shared."))
        of_shared->resources.shared = section.size;
      if (Kernel* of_local = function_of(section.name, ".nv.local."))
        of_local->resources.local = section.size;
      if (Kernel* of_constant = function_of(section.name, ".nv.constant0."))
        of_constant->resources.constant = section.size;
    }
  }

  // Of all functions: each value is a symbol and a number.
  Result<void> read_common_attributes(Bytes info) {
    DSBUILD_TRY(attributes, read_attributes(info, name_));
    for (const Attribute& attribute : attributes) {
      const bool is_known = attribute.number == k_registers || attribute.number == k_min_stack;
      if (!is_known || attribute.value.size() < 8 || !symbols_) continue;
      const auto symbol = elf_symbol(elf_, *symbols_, load<uint32_t>(attribute.value, 0));
      Kernel* kernel = symbol ? function_named(symbol->name) : nullptr;
      if (!kernel) continue;
      const auto number = load<uint32_t>(attribute.value, 4);
      if (attribute.number == k_registers) {
        kernel->resources.registers = number;
      } else {
        kernel->resources.stack = number;
      }
    }
    return {};
  }

  Result<void> read_own_attributes(Bytes info, Kernel& kernel) {
    DSBUILD_TRY(attributes, read_attributes(info, name_));
    bool says_spills = false;
    Bytes annotations;
    for (const Attribute& attribute : attributes) {
      if (attribute.number == k_api_version && attribute.value.size() >= 4)
        says_spills |= load<uint32_t>(attribute.value, 0) >= k_says_spills;
      if (attribute.number == k_annotations) annotations = attribute.value;
    }
    if (says_spills || !annotations.empty()) add_spills(annotations, kernel);
    return {};
  }

  // Where one of the instructions is not known nothing is said of them.
  void add_spills(Bytes annotations, Kernel& kernel) {
    const Bytes code = code_[static_cast<size_t>(&kernel - kernels_.data())];
    uint64_t stores = 0, loads = 0;
    for (; annotations.size() >= 8; annotations = annotations.subspan(8)) {
      if (load<uint32_t>(annotations, 0) != k_spill) return;
      const auto instruction = slice(code, load<uint32_t>(annotations, 4), k_instruction_size);
      const auto spill = instruction ? decode_spill(*instruction) : std::nullopt;
      if (!spill) return;
      (spill->is_store ? stores : loads) += spill->bytes;
    }
    kernel.resources.spill_stores = stores;
    kernel.resources.spill_loads = loads;
  }

  const ElfFile& elf_;
  size_t size_;  // of the cubin
  const std::string& name_;
  const ElfSection* symbols_;
  std::vector<Kernel> kernels_;
  std::vector<Bytes> code_;  // of each of them
  std::unordered_map<std::string_view, size_t> by_name_;
  size_t name_bytes_ = 0;
};

}  // namespace

Result<std::vector<Kernel>> read_cubin_kernels(Bytes cubin, const std::string& name) {
  DSBUILD_TRY(elf, read_elf(cubin, name));
  if (elf.machine != k_machine_cuda) return bad_cubin(name, "it is for another machine");
  return CubinReader(elf, cubin.size(), name).read();
}

namespace {

// Of images that are compressed together what was unpacked for the first serves the others too.
class Unpacker {
 public:
  // Valid until the next call.
  Result<Bytes> unpack(const StoredImage& stored, const std::string& name) {
    StoredImage whole = stored;
    whole.begin = 0;
    whole.size = stored.unpacked_size;
    const auto content = std::pair(stored.content.begin(), stored.content.size());
    if (content_ != content) {
      DSBUILD_TRY(bytes, unpack_image(whole, name));
      bytes_ = std::move(bytes);
      content_ = content;
    }
    const auto image = slice(as_bytes_of(bytes_), stored.begin, stored.size);
    if (!image) return bad_device_code(name, "an image is larger than what holds it");
    return *image;
  }

 private:
  std::optional<std::pair<uint64_t, uint64_t>> content_;
  std::string bytes_;
};

Result<std::vector<Kernel>> kernels_of(const Target& target, Bytes image, const std::string& name) {
  if (target.vendor == &amd()) return read_code_object_kernels(image, name);
  if (target.vendor == &intel()) return read_intel_kernels(image, name);
  return read_cubin_kernels(image, name);
}

}  // namespace

Result<void> visit_kernels(ByteRange file, const std::string& name,
                           const std::function<void(ImageKernels)>& visit) {
  DSBUILD_TRY(containers, read_stored_code(file, name));
  Unpacker unpacker;
  for (size_t module = 0; module < containers.size(); ++module)
    for (const StoredImage& stored : containers[module]) {
      if (stored.is_tile_ir || stored.image.target.is_virtual()) continue;
      DSBUILD_TRY(image, unpacker.unpack(stored, name));
      DSBUILD_TRY(kernels, kernels_of(stored.image.target, image, name));
      visit({stored.image, module, std::move(kernels)});
    }
  return {};
}

Result<std::vector<ImageKernels>> read_kernels(ByteRange file, const std::string& name) {
  std::vector<ImageKernels> found;
  DSBUILD_CHECK(visit_kernels(file, name, [&](ImageKernels one) { found.push_back(std::move(one)); }));
  return found;
}

}  // namespace dsbuild
