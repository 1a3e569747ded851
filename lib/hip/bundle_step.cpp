#include "hip/bundle_step.h"

#include "base/build_layout.h"
#include "binary/elf.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_symbol = "__hip_fatbin";  // from clang 17 on with a digest of -cuid behind it
constexpr std::string_view k_wrapper = "__hip_fatbin_wrapper";
constexpr uint16_t k_undefined = 0;  // SHN_UNDEF

// "" where the object refers to no bundle.
Result<std::string> symbol_of(const std::string& host, const FileReader& files) {
  DSBUILD_TRY(bytes, files.read_file(host));
  DSBUILD_TRY(elf, read_elf(as_bytes_of(bytes), host));
  const ElfSection* symbols = elf.find(".symtab");
  if (!symbols) return "";
  for (uint32_t i = 0; const auto symbol = elf_symbol(elf, *symbols, i); ++i)
    if (symbol->section == k_undefined && symbol->name.starts_with(k_symbol) && symbol->name != k_wrapper)
      return std::string(symbol->name);
  return "";
}

Result<std::string> bundle_of(const BundleStep& step, const FileReader& files) {
  std::vector<BundleEntry> entries = {{step.entries.front(), ""}};
  for (size_t i = 0; i < step.images.size(); ++i) {
    DSBUILD_TRY(code, files.read_file(step.images[i]));
    entries.push_back({step.entries.at(i + 1), std::move(code)});
  }
  return write_offload_bundle(entries);
}

// As clang itself writes it for -fgpu-rdc (clang/lib/Driver/ToolChains/HIPUtility.cpp). The runtime wants a
// page's alignment.
std::string assembly_of(const std::string& symbol, const std::string& bundle) {
  std::string text = ".section .hip_fatbin,\"a\",@progbits\n.p2align 12\n";
  if (!symbol.empty()) text += ".globl " + symbol + "\n.hidden " + symbol + "\n" + symbol + ":\n";
  return text + ".incbin \"" + bundle + "\"\n.section .note.GNU-stack,\"\",@progbits\n";
}

}  // namespace

Result<int> run_bundle_step(const BundleStep& step, MemoryTurn& turn, System& system,
                            const std::function<void(std::string_view)>& print) {
  FileSystem& files = system.files;
  const std::string bundle = step.output + k_bundle_end, assembly = step.output + k_assembly_end,
                    temporary = step.output + k_temporary_end;
  turn.wait_to_work();
  DSBUILD_TRY(symbol, symbol_of(step.host, files));
  DSBUILD_TRY(bytes, bundle_of(step, files));
  DSBUILD_CHECK(files.write_file(bundle, bytes));
  DSBUILD_CHECK(files.write_file(assembly, assembly_of(symbol, bundle)));
  std::vector<std::string> argv = step.clang;
  argv.insert(argv.end(),
              {"-Wno-unused-command-line-argument", "-x", "assembler", "-c", assembly, "-o", temporary});
  DSBUILD_TRY(result, system.processes.run({argv, system.environment, {}, std::chrono::minutes(10)}));
  print(result.out + result.err);
  turn.add_peak(result.peak_memory_bytes);
  if (result.exit_code != 0) return result.exit_code;
  DSBUILD_TRY(object, files.read_file(temporary));
  DSBUILD_CHECK(files.write_if_different(step.output, object));
  for (const std::string& file : {bundle, assembly, temporary})
    (void)files.remove_all(file);
  return 0;
}

}  // namespace dsbuild
