#include "ninja/clang_flags.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace dsbuild {
namespace {

enum class Takes { nothing, value };  // a value stands behind '=' or is the next word

struct Row {
  std::string_view name;  // without the dashes, of which nvcc takes one or two
  Takes takes = Takes::nothing;
  const char* instead = "";  // "": clang has nothing like it, or needs nothing
};

// Source: `nvcc --help` of 11.8 and 13.0, gcc 12's manual; clang 22's answer to each.
constexpr Row k_rows[] = {
    // Which tools, which architectures, how the work is spread.
    {"ccbin", Takes::value},
    {"compiler-bindir", Takes::value},
    {"gencode", Takes::value},
    {"generate-code", Takes::value},
    {"objdir-as-tempdir"},
    {"objtemp"},
    {"split-compile", Takes::value},
    {"threads", Takes::value},
    {"t", Takes::value},
    {"frandom-seed", Takes::value},
    // For ptxas, fatbinary and the other tools.
    {"Xptxas", Takes::value},
    {"ptxas-options", Takes::value},
    {"Xcudafe", Takes::value},
    {"Xnvlink", Takes::value},
    {"Xfatbin", Takes::value},
    {"compress-mode", Takes::value},
    {"maxrregcount", Takes::value},
    {"resource-usage"},
    {"res-usage"},
    {"cudart", Takes::value},
    {"default-stream", Takes::value},
    {"rdc", Takes::value},
    {"relocatable-device-code", Takes::value},
    // The language: clang has these extensions at all times.
    {"expt-relaxed-constexpr"},
    {"expt-extended-lambda"},
    {"extended-lambda"},
    // Code: nothing that a reader of sources sees but the macros of fast math.
    {"use_fast_math", Takes::nothing, "-ffast-math"},
    {"extra-device-vectorization"},
    {"restrict"},
    {"fmad", Takes::value},
    {"ftz", Takes::value},
    {"prec-div", Takes::value},
    {"prec-sqrt", Takes::value},
    {"G"},
    {"device-debug"},
    {"debug", Takes::nothing, "-g"},
    {"lineinfo"},
    {"generate-line-info"},
    {"source-in-ptx"},
    {"src-in-ptx"},
    // nvcc's own diagnostics.
    {"disable-warnings", Takes::nothing, "-w"},
    {"display-error-number"},
    {"no-display-error-number"},
    {"err-no"},
    {"diag-suppress", Takes::value},
    {"diag-warn", Takes::value},
    {"diag-error", Takes::value},
    {"Werror"},
    {"Wno-deprecated-gpu-targets"},
    {"Wext-lambda-captures-this"},
    // gcc's.
    {"fmax-errors", Takes::value},
    {"fconstexpr-loop-limit", Takes::value},
    {"fconstexpr-ops-limit", Takes::value},
    {"fno-gnu-unique"},
    {"fno-canonical-system-headers"},
    {"param", Takes::value},
};

constexpr std::string_view k_passed_on[] = {"Xcompiler", "compiler-options"};

std::string_view without_dashes(std::string_view flag) {
  const size_t start = flag.find_first_not_of('-');
  return start == 0 || start > 2 || start == std::string_view::npos ? std::string_view() : flag.substr(start);
}

}  // namespace

std::vector<std::string> clang_flags(const std::vector<std::string>& flags) {
  std::vector<std::string> clangs;
  for (size_t i = 0; i < flags.size(); ++i) {
    const std::string_view whole = without_dashes(flags[i]);
    const size_t equals = whole.find('=');
    const std::string_view name = whole.substr(0, equals);
    const bool is_passed_on =
        std::find(std::begin(k_passed_on), std::end(k_passed_on), name) != std::end(k_passed_on);
    const auto* row =
        std::find_if(std::begin(k_rows), std::end(k_rows), [&](const Row& r) { return r.name == name; });
    const bool is_known = row != std::end(k_rows);
    const bool has_next = equals == whole.npos && i + 1 < flags.size();
    if (is_passed_on) {
      const std::string value =
          has_next ? flags[++i] : std::string(equals == whole.npos ? "" : whole.substr(equals + 1));
      const std::vector<std::string> hosts = clang_flags(split(value, ","));
      clangs.insert(clangs.end(), hosts.begin(), hosts.end());
    } else if (!is_known) {
      clangs.push_back(flags[i]);
    } else {
      if (row->takes == Takes::value && has_next) ++i;
      if (*row->instead) clangs.emplace_back(row->instead);
    }
  }
  return clangs;
}

}  // namespace dsbuild
