#include "slices/host_text.h"

#include <algorithm>

#include "base/text.h"

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

// R"delimiter( behind what is no name; not "ERROR".
bool may_hold_raw_string(std::string_view text) {
  constexpr size_t k_longest_delimiter = 16;
  for (size_t at = text.find("R\""); at != std::string_view::npos; at = text.find("R\"", at + 1)) {
    const char before = at == 0 ? ' ' : text[at - 1];
    const bool starts_literal = std::string_view("uUL8").find(before) != std::string_view::npos ||
                                !(std::isalnum(static_cast<unsigned char>(before)) || before == '_');
    const std::string_view rest = text.substr(at + 2, k_longest_delimiter + 1);
    const size_t end = rest.find_first_of("( )\\\"\n\t");
    if (starts_literal && end != std::string_view::npos && rest[end] == '(') return true;
  }
  return false;
}

}  // namespace

std::string blank_disabled_code(std::string text) {
  if (may_hold_raw_string(text)) return text;  // in it, lines may look alike
  std::string blanked;
  blanked.reserve(text.size());
  int depth = 0;  // of conditions within disabled code
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string_view line(text.data() + begin, end - begin);
    if (depth == 1 && starts_directive(line, "el")) return text;
    if (depth > 0 && starts_directive(line, "if")) ++depth;
    if (depth > 0 && starts_directive(line, "endif")) --depth;
    if (depth == 0)
      blanked += line;
    else
      blanked += '\n';
    if (depth == 0 && is_if_zero(line)) depth = 1;
    begin = end;
  }
  return blanked;
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
