// Which compiler and linker flags a spec may hold. An allow-list of full matches, as Go's cgo has one
// (CVE-2018-6574): a flag may choose how code is generated, never name a file, a tool, an architecture or
// an output, and never carry other flags past this list. What goes to another tool (-Xptxas=, -Xcompiler=) is
// looked at word by word.

// GCC bug 105562: std::regex under AddressSanitizer warns of a value that is always set.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <algorithm>
#include <array>
#include <regex>

#include "base/text.h"
#include "registry/registry.h"
#include "registry/spec_words.h"

namespace dsbuild {
namespace {

// clang-format off
constexpr std::array k_cxx_patterns = {
    R"(-O[0-3sg]?)", R"(-Ofast)", R"(-g[0-3]?)", R"(-w)", R"(-pedantic)", R"(-pthread)", R"(-pipe)",
    R"(-W[a-z][a-z0-9+-]{2,}(=[a-z0-9+-]+)?)",
    R"(-fopenmp|-fopenmp-simd|-fPIC|-fpic|-fno-gnu-unique|-fno-plt)",
    R"(-f(no-)?(fast-math|finite-math-only|unsafe-math-optimizations|associative-math|reciprocal-math|signed-zeros|trapping-math|math-errno|rounding-math))",
    R"(-f(no-)?(strict-aliasing|strict-overflow|permissive|wrapv|delete-null-pointer-checks|exceptions|rtti|common|signed-char|unsigned-char|char8_t))",
    R"(-f(no-)?(inline|inline-functions|unroll-loops|tree-vectorize|vectorize|slp-vectorize|omit-frame-pointer|function-sections|data-sections))",
    R"(-f(no-)?(stack-protector|stack-protector-strong|stack-protector-all|visibility-inlines-hidden))",
    R"(-fvisibility=(hidden|default|protected))", R"(-ffp-contract=(fast|on|off))",
    R"(-ftls-model=(global-dynamic|local-dynamic|initial-exec))",
    R"(-ftemplate-(depth|backtrace-limit)=[0-9]{1,6})", R"(-fconstexpr-(depth|loop-limit|ops-limit|steps)=[0-9]{1,10})",
    R"(-flto(=auto)?|-fno-lto|-f(no-)?fat-lto-objects)", R"(-fmax-errors=[0-9]{1,6})", R"(--param=[a-z][a-z0-9-]*=[0-9]{1,9})",
    R"(-m(no-)?(sse|sse2|sse3|ssse3|sse4|sse4\.1|sse4\.2|avx|avx2|avxvnni|fma|f16c|bmi|bmi2|popcnt|lzcnt|aes|pclmul|vaes|vpclmulqdq))",
    R"(-m(no-)?avx512(f|bw|cd|dq|vl|ifma|vbmi|vbmi2|vnni|bf16|fp16|bitalg|vpopcntdq))",
    R"(-m(no-)?amx-(tile|int8|bf16|fp16))", R"(-mprefer-vector-width=(128|256|512))",
    R"(-march=baseline)",
    R"(-m(arch|tune)=(x86-64|x86-64-v[234]|haswell|broadwell|skylake|skylake-avx512|cascadelake|cooperlake|icelake-client|icelake-server|sapphirerapids|graniterapids|znver[1-5]))",
    R"(-march=armv[89](\.[0-9])?-a(\+[a-z0-9]+)*)",
    R"(-m(cpu|tune)=(generic|cortex-a[0-9]{2,3}|neoverse-(n1|n2|v1|v2)))",
};
constexpr std::array k_nvcc_patterns = {
    R"(-O[0-3])", R"(-g|-G|--device-debug|--debug|-w|--disable-warnings)",
    R"(-lineinfo|--generate-line-info|--source-in-ptx|-src-in-ptx)",
    R"(--?use_fast_math|--?extra-device-vectorization|--?restrict)",
    R"(--?expt-relaxed-constexpr|--?expt-extended-lambda|--?extended-lambda)",
    R"(--?(fmad|ftz|prec-div|prec-sqrt)=(true|false))",
    R"(--?maxrregcount=[0-9]{1,3})", R"(--?default-stream=(legacy|null|per-thread))",
    R"(--?static-global-template-stub=(true|false))", R"(--?ftemplate-(depth|backtrace-limit)=[0-9]{1,6})",
    R"(--resource-usage|-res-usage|--display-error-number|-err-no|--no-display-error-number)",
    R"(--?diag-(suppress|warn|error)=[a-z0-9_]+(,[a-z0-9_]+)*)",
    R"((-rdc|--relocatable-device-code)=(true|false))", R"(-Wno-deprecated-gpu-targets|-Wreorder|-Wext-lambda-captures-this)",
    R"((-Werror|--Werror)=(cross-execution-space-call|reorder|default-stream-launch|missing-launch-bounds|ext-lambda-captures-this|deprecated-declarations|all-warnings))",
};
// Of ptxas and fatbinary, and of cudafe++, behind -Xptxas=, -Xfatbin= and -Xcudafe=.
constexpr std::array k_ptxas_patterns = {
    R"(-v|--verbose|-O[0-3]|--opt-level=[0-3]|-dlcm=c[agsv]|-dscm=(wb|cg|cs|wt))",
    R"(--?warn-(spills|on-spills|lmem-usage|on-local-memory-usage|on-double-precision-use|double-usage))",
    R"(--?suppress-(stack-size-warning|double-demote-warning))",
    R"(--?allow-expensive-optimizations=(true|false))", R"(--?register-usage-level=([0-9]|10))",
    R"(--?fmad=(true|false))",
};
constexpr std::array k_fatbin_patterns = {R"(--?compress-all|--?compress=(true|false))"};
constexpr std::array k_cudafe_patterns = {
    R"(--?diag_(suppress|warning|error)=[a-z0-9_]+)", R"(--?display_error_number|--?no_warnings)",
};
// Of clang for HIP and of icpx, beside those of cxx.
constexpr std::array k_hip_patterns = {
    R"(-f(no-)?(gpu-approx-transcendentals|gpu-flush-denormals-to-zero|gpu-sanitize|gpu-defer-diag|hip-fp32-correctly-rounded-divide-sqrt))",
    R"(-m(no-)?(unsafe-fp-atomics|cumode|tgsplit))", R"(--gpu-max-threads-per-block=[0-9]{1,4})",
    R"(-ffp-contract=fast-honor-pragmas)", R"(-Rpass-analysis=kernel-resource-usage)",
};
constexpr std::array k_sycl_patterns = {
    R"(-sycl-std=2020)", R"(-f(no-)?(sycl-unnamed-lambda|sycl-id-queries-fit-in-int|sycl-instrument-device-code|sycl-early-optimizations))",
    R"(-f(no-)?offload-fp32-prec-(div|sqrt))", R"(-f(no-)?approx-func)", R"(-fsycl-max-parallel-link-jobs=[0-9]{1,2})",
};
constexpr std::array k_link_patterns = {
    R"(-flto(=auto)?|-fno-lto)", R"(-pthread|-fopenmp|-static-libstdc\+\+|-static-libgcc|-s|-g|-O[0-3])",
    R"(-Wl,(--as-needed|--no-as-needed|--gc-sections|--build-id=none|-O1|-z,now|-z,relro|-z,noexecstack|-z,defs|-z,nodelete))",
    R"(-Wl,-rpath,\$ORIGIN(/[A-Za-z0-9_][A-Za-z0-9_.+-]*|/\.\.)*)",
    R"(-Wl,--exclude-libs,ALL)", R"(-Wl,-Bsymbolic|-Wl,-Bsymbolic-functions)",
};

// Better reasons for flags that people are likely to try. The first that matches is used.
struct Refusal { const char* pattern; const char* reason; };
constexpr std::array k_refusals = {
    Refusal{R"((-Xcompiler|--compiler-options)=.*-flto.*)", "hides the device images in the object, for -flto puts them into the compiler's own format"},
    Refusal{R"(@.*)", "names a file of further flags"},
    Refusal{R"(--?std(=.*)?)", "is the std key's business"},
    Refusal{R"(--?(gencode|generate-code|arch|code|gpu-architecture|gpu-code|offload-arch|fsycl-targets)(=.*)?)", "names an architecture; those come from --arch and the archs key"},
    Refusal{R"(-m(arch|cpu|tune)=native)", "makes the bundle depend on the machine that builds it; -march=baseline is what --cpu-baseline says"},
    Refusal{R"(-l.*|--library(=.*)?)", "is the libraries key's business"},
    Refusal{R"(-I.*|-isystem.*|--include-path(=.*)?|--system-include(=.*)?)", "is the include_dirs key's business"},
    Refusal{R"(-dc|--device-c|-dlto|--dlink-time-opt)", "is a phase of nvcc's; write -rdc=true for device code that calls that of other sources"},
    Refusal{R"(--?(ccbin|compiler-bindir)(=.*)?)", "names a host compiler; that is what CUDAHOSTCXX and CXX say"},
    Refusal{R"(-j[0-9]*|--?split-compile(=.*)?)", "is the job control's business (--jobs, DS_NVCC_THREADS)"},
    Refusal{R"((-Xcompiler|--compiler-options|-Xlinker|--linker-options|-Xarchive|-Xnvlink|-Xfatbin|-Wl,|-Wa,|-Wp,).*)", "carries flags past the list to another tool"},
};
// clang-format on

// The flags of one tool, as one expression: std::regex pays once per match, not once per pattern. No pattern
// bounds the length of a name (`{0,254}`): std::regex makes a copy of the part for each, and a flag is short.
template <size_t N>
std::regex one_of(const std::array<const char*, N>& patterns) {
  std::string all;
  for (const char* pattern : patterns)
    all += (all.empty() ? "(?:" : "|(?:") + std::string(pattern) + ")";
  return std::regex(all, std::regex::ECMAScript | std::regex::nosubs | std::regex::optimize);
}

// -DNAME, -UNAME, and -DNAME=<value>, whose value is looked at as one of `defines` is.
bool is_define(const std::string& flag) {
  if (!flag.starts_with("-D") && !flag.starts_with("-U")) return false;
  const size_t equals = flag.find('=');
  if (!refuse_identifier(flag.substr(2, equals == flag.npos ? equals : equals - 2)).empty()) return false;
  return equals == flag.npos || (flag[1] == 'D' && refuse_define_value(flag.substr(equals + 1)).empty());
}

// By one of a table above.
template <const auto& patterns>
bool matches(const std::string& flag) {
  static const std::regex allowed = one_of(patterns);
  return std::regex_match(flag, allowed);
}

bool is_allowed_cxx(const std::string& flag) {
  return is_define(flag) || matches<k_cxx_patterns>(flag);
}

// What nvcc hands on. It takes quotes away there, so these defines are plain. In an object of -flto nobody
// finds the device images.
bool is_allowed_behind_nvcc(const std::string& flag) {
  const bool is_plain = flag.find_first_of("\"'()*<>&|;{}? ") == std::string::npos;
  return is_plain && !flag.starts_with("-flto") && is_allowed_cxx(flag);
}

// The options of nvcc's that hold flags of another tool, separated by commas.
struct Tunnel {
  const char* option;
  bool (*is_allowed)(const std::string&);
};
constexpr std::array k_tunnels = {
    Tunnel{"-Xptxas=", matches<k_ptxas_patterns>},   Tunnel{"--ptxas-options=", matches<k_ptxas_patterns>},
    Tunnel{"-Xcompiler=", is_allowed_behind_nvcc},   Tunnel{"--compiler-options=", is_allowed_behind_nvcc},
    Tunnel{"-Xfatbin=", matches<k_fatbin_patterns>}, Tunnel{"--fatbin-options=", matches<k_fatbin_patterns>},
    Tunnel{"-Xcudafe=", matches<k_cudafe_patterns>},
};

bool is_allowed_nvcc(const std::string& flag) {
  for (const Tunnel& tunnel : k_tunnels) {
    if (!flag.starts_with(tunnel.option)) continue;
    const std::vector<std::string> words = split(flag.substr(std::string(tunnel.option).size()), ",");
    return !words.empty() && std::ranges::all_of(words, tunnel.is_allowed);
  }
  return is_define(flag) || matches<k_nvcc_patterns>(flag);
}

bool is_allowed(FlagKind kind, const std::string& flag) {
  switch (kind) {
    case FlagKind::cxx:
      return is_allowed_cxx(flag);
    case FlagKind::nvcc:
      return is_allowed_nvcc(flag);
    case FlagKind::hip:
      return is_allowed_cxx(flag) || matches<k_hip_patterns>(flag);
    case FlagKind::sycl:
      return is_allowed_cxx(flag) || matches<k_sycl_patterns>(flag);
    case FlagKind::link:
      break;
  }
  return matches<k_link_patterns>(flag);
}

std::string kind_name(FlagKind kind) {
  switch (kind) {
    case FlagKind::cxx:
      return "flags.cxx";
    case FlagKind::nvcc:
      return "flags.nvcc";
    case FlagKind::hip:
      return "flags.hip";
    case FlagKind::sycl:
      return "flags.sycl";
    case FlagKind::link:
      break;
  }
  return "flags.link";
}

}  // namespace

std::string flag_refusal(FlagKind kind, const std::string& flag) {
  constexpr size_t longest = 512;  // keeps std::regex, which recurses, far from the stack's end
  if (flag.empty()) return "is empty";
  if (flag.size() > longest) return "is over 512 bytes long";
  if (is_allowed(kind, flag)) return "";
  for (const Refusal& refusal : k_refusals) {
    if (std::regex_match(flag, std::regex(refusal.pattern))) return refusal.reason;
  }
  return "is not on the list of what " + kind_name(kind) + " may hold";
}

}  // namespace dsbuild
