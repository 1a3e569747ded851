// Which compiler and linker flags a spec may hold. An allow-list of full matches, as Go's cgo has one
// (CVE-2018-6574): a flag may choose how code is generated, never name a file, a tool, an architecture or
// an output, and never carry other flags past this list.

// GCC bug 105562: std::regex under AddressSanitizer warns of a value that is always set.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <array>
#include <regex>

#include "registry/registry.h"

namespace dsbuild {
namespace {

// clang-format off
constexpr std::array k_cxx_patterns = {
    R"(-O[0-3sg]?)", R"(-Ofast)", R"(-g[0-3]?)", R"(-w)", R"(-pedantic)", R"(-pthread)", R"(-pipe)",
    R"(-W[a-z][a-z0-9+-]{2,60}(=[a-z0-9+-]{1,60})?)",
    R"(-[DU][A-Za-z_][A-Za-z0-9_]{0,254})",
    R"(-D[A-Za-z_][A-Za-z0-9_]{0,254}=[A-Za-z0-9_.:+-]{0,254})",
    R"(-fopenmp|-fopenmp-simd|-fPIC|-fpic|-fno-gnu-unique|-fno-plt)",
    R"(-f(no-)?(fast-math|finite-math-only|unsafe-math-optimizations|associative-math|reciprocal-math|signed-zeros|trapping-math|math-errno|rounding-math))",
    R"(-f(no-)?(strict-aliasing|strict-overflow|wrapv|delete-null-pointer-checks|exceptions|rtti|common|signed-char|unsigned-char|char8_t))",
    R"(-f(no-)?(inline|inline-functions|unroll-loops|tree-vectorize|vectorize|slp-vectorize|omit-frame-pointer|function-sections|data-sections))",
    R"(-f(no-)?(stack-protector|stack-protector-strong|stack-protector-all|visibility-inlines-hidden))",
    R"(-fvisibility=(hidden|default|protected))", R"(-ffp-contract=(fast|on|off))",
    R"(-ftls-model=(global-dynamic|local-dynamic|initial-exec))",
    R"(-ftemplate-depth=[0-9]{1,6})", R"(-fconstexpr-(depth|loop-limit|ops-limit|steps)=[0-9]{1,10})",
    R"(-fmax-errors=[0-9]{1,6})", R"(--param=[a-z][a-z0-9-]{0,60}=[0-9]{1,9})",
    R"(-m(no-)?(sse|sse2|sse3|ssse3|sse4|sse4\.1|sse4\.2|avx|avx2|avxvnni|fma|f16c|bmi|bmi2|popcnt|lzcnt|aes|pclmul|vaes|vpclmulqdq))",
    R"(-m(no-)?avx512(f|bw|cd|dq|vl|ifma|vbmi|vbmi2|vnni|bf16|fp16|bitalg|vpopcntdq))",
    R"(-m(no-)?amx-(tile|int8|bf16|fp16))", R"(-mprefer-vector-width=(128|256|512))",
    R"(-march=baseline)",
    R"(-m(arch|tune)=(x86-64|x86-64-v[234]|haswell|broadwell|skylake|skylake-avx512|cascadelake|cooperlake|icelake-client|icelake-server|sapphirerapids|graniterapids|znver[1-5]))",
    R"(-march=armv[89](\.[0-9])?-a(\+[a-z0-9]{1,20}){0,8})",
    R"(-m(cpu|tune)=(generic|cortex-a[0-9]{2,3}|neoverse-(n1|n2|v1|v2)))",
};
constexpr std::array k_nvcc_patterns = {
    R"(-O[0-3])", R"(-g|-G|--device-debug|--debug|-w|--disable-warnings)",
    R"(-lineinfo|--generate-line-info|--source-in-ptx|-src-in-ptx)",
    R"(--?use_fast_math|--?extra-device-vectorization|--?restrict)",
    R"(--?expt-relaxed-constexpr|--?expt-extended-lambda|--?extended-lambda)",
    R"(--?(fmad|ftz|prec-div|prec-sqrt)=(true|false))",
    R"(--?maxrregcount=[0-9]{1,3})", R"(--?default-stream=(legacy|null|per-thread))",
    R"((-Xptxas|--ptxas-options)=(-v|-O[0-3]|-dlcm=c[agsv]|-dscm=(wb|cg|cs|wt)|-warn-spills|-warn-lmem-usage|--warn-on-spills|--warn-on-local-memory-usage|--allow-expensive-optimizations=(true|false)|-suppress-stack-size-warning))",
    R"(--resource-usage|-res-usage|--display-error-number|-err-no|--no-display-error-number)",
    R"(--?diag-(suppress|warn|error)=[a-z0-9_]{1,60}(,[a-z0-9_]{1,60}){0,20})",
    R"(-Xcudafe=--diag_suppress=[a-z0-9_]{1,60})", R"(-Wno-deprecated-gpu-targets|-Wreorder|-Wext-lambda-captures-this)",
    R"((-Werror|--Werror)=(cross-execution-space-call|reorder|default-stream-launch|missing-launch-bounds|ext-lambda-captures-this|deprecated-declarations|all-warnings))",
    R"(-[DU][A-Za-z_][A-Za-z0-9_]{0,254})",
    R"(-D[A-Za-z_][A-Za-z0-9_]{0,254}=[A-Za-z0-9_.:+-]{0,254})",
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
    R"(-pthread|-fopenmp|-static-libstdc\+\+|-static-libgcc|-s|-g|-O[0-3])",
    R"(-Wl,(--as-needed|--no-as-needed|--gc-sections|--build-id=none|-O1|-z,now|-z,relro|-z,noexecstack|-z,defs|-z,nodelete))",
    R"(-Wl,-rpath,\$ORIGIN(/[A-Za-z0-9_][A-Za-z0-9_.+-]{0,254}|/\.\.){0,32})",
    R"(-Wl,--exclude-libs,ALL)", R"(-Wl,-Bsymbolic|-Wl,-Bsymbolic-functions)",
};

// Better reasons for flags that people are likely to try. The first that matches is used.
struct Refusal { const char* pattern; const char* reason; };
constexpr std::array k_refusals = {
    Refusal{R"(@.*)", "names a file of further flags"},
    Refusal{R"(--?std(=.*)?)", "is the std key's business"},
    Refusal{R"(--?(gencode|generate-code|arch|code|gpu-architecture|gpu-code|offload-arch|fsycl-targets)(=.*)?)", "names an architecture; those come from --arch and the archs key"},
    Refusal{R"(-m(arch|cpu|tune)=native)", "makes the bundle depend on the machine that builds it; -march=baseline is what --cpu-baseline says"},
    Refusal{R"(-l.*|--library(=.*)?)", "is the libraries key's business"},
    Refusal{R"(-I.*|-isystem.*|--include-path(=.*)?|--system-include(=.*)?)", "is the include_dirs key's business"},
    Refusal{R"(-(j|t)[0-9]*|--threads(=.*)?|--split-compile(=.*)?)", "is the job control's business (--jobs, DS_NVCC_THREADS)"},
    Refusal{R"((-Xcompiler|--compiler-options|-Xlinker|--linker-options|-Xarchive|-Xnvlink|-Xfatbin|-Wl,|-Wa,|-Wp,).*)", "carries flags past the list to another tool"},
};
// clang-format on

// The flags of one tool, as one expression: std::regex pays once per match, not once per pattern.
template <size_t N>
std::regex one_of(const std::array<const char*, N>& patterns) {
  std::string all;
  for (const char* pattern : patterns)
    all += (all.empty() ? "(?:" : "|(?:") + std::string(pattern) + ")";
  return std::regex(all, std::regex::ECMAScript | std::regex::nosubs | std::regex::optimize);
}

bool is_allowed_cxx(const std::string& flag) {
  static const std::regex allowed = one_of(k_cxx_patterns);
  return std::regex_match(flag, allowed);
}

// nvcc's own flags, and -Xcompiler= with one allowed flag of the host compiler (none of those has a comma).
bool is_allowed_nvcc(const std::string& flag) {
  static const std::regex allowed = one_of(k_nvcc_patterns);
  for (const std::string tunnel : {"-Xcompiler=", "--compiler-options="}) {
    if (flag.rfind(tunnel, 0) == 0) return is_allowed_cxx(flag.substr(tunnel.size()));
  }
  return std::regex_match(flag, allowed);
}

bool is_allowed_link(const std::string& flag) {
  static const std::regex allowed = one_of(k_link_patterns);
  return std::regex_match(flag, allowed);
}

bool is_allowed_hip(const std::string& flag) {
  static const std::regex allowed = one_of(k_hip_patterns);
  return is_allowed_cxx(flag) || std::regex_match(flag, allowed);
}

bool is_allowed_sycl(const std::string& flag) {
  static const std::regex allowed = one_of(k_sycl_patterns);
  return is_allowed_cxx(flag) || std::regex_match(flag, allowed);
}

bool is_allowed(FlagKind kind, const std::string& flag) {
  switch (kind) {
    case FlagKind::cxx:
      return is_allowed_cxx(flag);
    case FlagKind::nvcc:
      return is_allowed_nvcc(flag);
    case FlagKind::hip:
      return is_allowed_hip(flag);
    case FlagKind::sycl:
      return is_allowed_sycl(flag);
    case FlagKind::link:
      break;
  }
  return is_allowed_link(flag);
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
