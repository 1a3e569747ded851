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

class BundleStepper : public Stepper {
 public:
  explicit BundleStepper(const BundleStep& step) : step_(step) {}

  std::string path_of(const std::string&) const override { return step_.output; }
  std::vector<std::string> output_names() const override { return {"object"}; }

  Result<Made> make(Engine& engine) override {
    FileSystem& files = engine.files();
    engine.acquire_full();
    DSBUILD_CHECK(write_inputs(files));
    DSBUILD_TRY(result,
                engine.run({{command(), engine.machine().environment, {}, std::chrono::minutes(10)}}));
    engine.print(result.out + result.err);
    if (result.exit_code != 0) return Made::failed(result.exit_code);
    Made made{0, ResultOrigin::tools, {}, engine.action().make_record({objects(), {}}), temporary()};
    add_tool_output(made.record, k_assembler, result.out + result.err);
    DSBUILD_TRY(object, files.read_file(made.temporary));
    made.outputs.push_back({output_names().front(), std::move(object)});
    for (const std::string& file : {bundle(), assembly()})
      (void)files.remove_all(file);
    return made;
  }

 private:
  std::string bundle() const { return step_.output + k_bundle_end; }
  std::string assembly() const { return step_.output + k_assembly_end; }
  std::string temporary() const { return step_.output + k_temporary_end; }

  std::vector<std::string> command() const {
    std::vector<std::string> argv = step_.clang;
    argv.insert(argv.end(), {"-Wno-unused-command-line-argument", "-x", "assembler", "-c", assembly(), "-o",
                             temporary()});
    return argv;
  }

  std::vector<std::string> objects() const {
    std::vector<std::string> files = {step_.host};
    files.insert(files.end(), step_.images.begin(), step_.images.end());
    return files;
  }

  Result<void> write_inputs(FileSystem& files) const {
    DSBUILD_TRY(symbols, left_out_of(step_.host, files));
    DSBUILD_TRY(bytes, bundle_of(step_, files));
    DSBUILD_CHECK(files.write_file(bundle(), bytes));
    return files.write_file(assembly(), assembly_of(symbols, bundle()));
  }

  const BundleStep& step_;
};

}  // namespace

Result<StepEnd> run_bundle_step(const BundleStep& step, Engine& engine) {
  BundleStepper stepper(step);
  return engine.drive(stepper);
}

}  // namespace dsbuild
