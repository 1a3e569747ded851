#include "nvcc/host_text.h"

#include <algorithm>

#include "base/digest.h"
#include "base/text.h"
#include "nvcc/code_lines.h"

namespace dsbuild {
namespace {

bool starts_directive(std::string_view line, std::string_view directive) {
  const size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string_view::npos || line[hash] != '#') return false;
  const size_t name = line.find_first_not_of(" \t", hash + 1);
  return name != std::string_view::npos && line.substr(name).starts_with(directive);
}

bool is_if_zero(std::string_view line) {
  if (!starts_directive(line, "if")) return false;
  const std::string words = trim(line.substr(line.find("if") + 2));
  return words == "0";
}

}  // namespace

std::string blank_disabled_code(std::string text) {
  std::string blanked;
  blanked.reserve(text.size());
  int depth = 0;  // of conditions within disabled code
  CodeLines lines(text);
  while (const auto line = lines.next()) {
    if (depth == 1 && starts_directive(*line, "el")) return text;
    if (depth > 0 && starts_directive(*line, "if")) ++depth;
    if (depth > 0 && starts_directive(*line, "endif")) --depth;
    if (depth == 0)
      blanked += *line;
    else
      blanked.append(static_cast<size_t>(std::count(line->begin(), line->end(), '\n')), '\n');
    if (depth == 0 && is_if_zero(*line)) depth = 1;
  }
  return blanked;
}

std::string images_symbol(const std::string& module_id) {
  return "dsbuild_fatbin_" + sha256(module_id).substr(0, 32);
}

std::string fatbin_shim(const std::string& symbol) {
  return "#include \"fatbinary_section.h\"\n"
         "#define __CUDAFATBINSECTION \".nvFatBinSegment\"\n"
         "#define __CUDAFATBINDATASECTION \".nv_fatbin\"\n"
         "extern \"C\" {\n"
         "extern const unsigned long long " +
         symbol +
         "[] __attribute__((visibility(\"hidden\")));\n"
         "static const __fatBinC_Wrapper_t __fatDeviceText __attribute__((aligned(8)))\n"
         "    __attribute__((section(__CUDAFATBINSECTION))) = {0x466243b1, 1, " +
         symbol +
         ", 0};\n"
         "}\n";
}

std::string fatbin_assembly(const std::string& symbol, const std::string& images) {
  return ".section .nv_fatbin,\"a\"\n.align 8\n.globl " + symbol + "\n.hidden " + symbol + "\n" + symbol +
         ":\n.incbin \"" + images + "\"\n.section .note.GNU-stack,\"\",@progbits\n";
}

}  // namespace dsbuild
