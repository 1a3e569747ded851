#include "hip/bundle_step.h"

#include "base/build_layout.h"
#include "binary/elf.h"

namespace dsbuild {
namespace {

constexpr uint16_t k_undefined = 0;  // SHN_UNDEF

// By their beginnings: from clang 17 on a digest of -cuid is behind them.
constexpr std::string_view k_bundle_symbol = "__hip_fatbin";
constexpr std::string_view k_handle_symbol = "__hip_gpubin_handle";

// What the host's object leaves to that of the images; "" where it refers to none.
struct LeftOut {
  std::string bundle;
  std::string handle;  // what the runtime gives for the bundle: clang 22 has it in the host's object, 19 not
};

Result<LeftOut> left_out_of(const std::string& host, const FileReader& files) {
  DSBUILD_TRY(bytes, files.read_file(host));
  DSBUILD_TRY(elf, read_elf(as_bytes_of(bytes), host));
  LeftOut found;
  const ElfSection* symbols = elf.find(".symtab");
  if (!symbols) return found;
  for (uint32_t i = 0; const auto symbol = elf_symbol(elf, *symbols, i); ++i) {
    if (symbol->section != k_undefined) continue;
    if (symbol->name.starts_with(k_bundle_symbol)) found.bundle = symbol->name;
    if (symbol->name.starts_with(k_handle_symbol)) found.handle = symbol->name;
  }
  return found;
}

Result<std::string> bundle_of(const BundleStep& step, const FileReader& files) {
  std::vector<BundleEntry> entries = {{step.entries.front(), ""}};
  for (size_t i = 0; i < step.images.size(); ++i) {
    DSBUILD_TRY(code, files.read_file(step.images[i]));
    entries.push_back({step.entries.at(i + 1), std::move(code)});
  }
  return write_offload_bundle(entries);
}

std::string definition_of(const std::string& symbol) {
  return symbol.empty() ? "" : ".globl " + symbol + "\n.hidden " + symbol + "\n" + symbol + ":\n";
}

// As clang itself writes it for -fgpu-rdc (clang/lib/Driver/ToolChains/HIPUtility.cpp). The runtime wants a
// page's alignment.
std::string assembly_of(const LeftOut& symbols, const std::string& bundle) {
  std::string text = ".section .hip_fatbin,\"a\",@progbits\n.p2align 12\n" + definition_of(symbols.bundle) +
                     ".incbin \"" + bundle + "\"\n";
  if (!symbols.handle.empty()) text += ".bss\n.p2align 3\n" + definition_of(symbols.handle) + ".zero 8\n";
  return text + ".section .note.GNU-stack,\"\",@progbits\n";
}

}  // namespace

Result<int> run_bundle_step(const BundleStep& step, MemoryTurn& turn, System& system,
                            const std::function<void(std::string_view)>& print) {
  FileSystem& files = system.files;
  const std::string bundle = step.output + k_bundle_end, assembly = step.output + k_assembly_end,
                    temporary = step.output + k_temporary_end;
  turn.wait_to_work();
  DSBUILD_TRY(symbols, left_out_of(step.host, files));
  DSBUILD_TRY(bytes, bundle_of(step, files));
  DSBUILD_CHECK(files.write_file(bundle, bytes));
  DSBUILD_CHECK(files.write_file(assembly, assembly_of(symbols, bundle)));
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
