#include "wrapper/nvcc_options.h"

#include <map>
#include <set>

#include "base/text.h"

namespace dsbuild {
namespace {

using Names = std::set<std::string>;

Names names_in(const char* text) {
  const std::vector<std::string> names = shell_split(text);
  return {names.begin(), names.end()};
}

// By several names each.
template <class Meaning>
std::map<std::string, Meaning> by_name(const std::vector<std::pair<const char*, Meaning>>& rows) {
  std::map<std::string, Meaning> meanings;
  for (const auto& [names, meaning] : rows)
    for (const std::string& name : names_in(names))
      meanings.emplace(name, meaning);
  return meanings;
}

constexpr const char* k_relocatable_names = "dc device-c dw device-w";
constexpr OtherCompile k_relocatable = {"makes relocatable device code", NvccCall::Kept::whole};

const std::map<std::string, std::string>& other_phases() {
  static const auto phases = by_name<std::string>(
      {{"cuda", "cuda"},
       {"cubin", "cubin"},
       {"fatbin", "fatbin"},
       {"ptx", "ptx"},
       {"optix-ir", "optix-ir"},
       {"ltoir", "ltoir"},
       {"E preprocess", "preprocess"},
       {"M generate-dependencies", "generate-dependencies"},
       {"MM generate-nonsystem-dependencies", "generate-dependencies"},
       {"dlink device-link", "device-link"},
       {"link", "link"},
       {"lib", "lib"},
       {"run", "run"},
       {"shared", "shared"},
       {"r relocatable-link", "relocatable-link"},
       {"dryrun", "dryrun"},
       {"v verbose", "verbose"},
       {"h help", "help"},
       {"V version", "version"},
       {"code-ls list-gpu-code", "list-gpu-code"},
       {"arch-ls list-gpu-arch", "list-gpu-arch"},
       {"clean clean-targets", "clean-targets"},
       {"fdevice-syntax-only", "fdevice-syntax-only"},
       {"aug-hls augment-host-linker-script hls host-linker-script", "host-linker-script"}});
  return phases;
}

const std::map<std::string, OtherCompile>& other_compiles() {
  constexpr auto whole = NvccCall::Kept::whole, no = NvccCall::Kept::no;  // gcc 10 has no `using enum`
  static const auto compiles =
      by_name<OtherCompile>({{k_relocatable_names, k_relocatable},
                             {"dlto dlink-time-opt lto gen-opt-lto", {"is optimised in the link", whole}},
                             {"ewp extensible-whole-program", {"makes an extensible whole program", whole}},
                             {"G device-debug g debug", {"has debug information", whole}},
                             {"pg profile", {"is profiled", no}},
                             {"keep keep-dir save-temps", {"keeps files of its steps", no}},
                             {"time fdevice-time-trace", {"writes how long its steps take", no}},
                             {"odir output-directory", {"has its output in --output-directory", no}},
                             {"noprof dont-use-profile", {"leaves nvcc.profile out", no}},
                             {"astoolspatch compile-as-tools-patch", {"is a patch for tools", no}},
                             {"qpp-config", {"uses another configuration of host compilers", no}},
                             {"opt-info optimization-info", {"tells what it optimised", no}},
                             {"sanitize", {"is made for a sanitizer", no}},
                             {"frandom-seed", {"has a seed of its own", no}}});
  return compiles;
}

}  // namespace

bool takes_value(const std::string& name) {
  static const Names names = names_in(
      "MF dependency-output MT dependency-target-name o output-file include pre-include l library "
      "D define-macro U undefine-macro I include-path isystem system-include L library-path "
      "odir output-directory ccbin compiler-bindir arbin archiver-binary cudart cudadevrt "
      "ldir libdevice-directory target-dir target-directory opt-info optimization-info O optimize "
      "Ofc Ofast-compile dopt ftemplate-backtrace-limit ftemplate-depth x std m machine "
      "Xcompiler compiler-options Xlinker linker-options Xarchive archive-options Xptxas ptxas-options "
      "Xnvlink nvlink-options Xfatbin fatbin-options Xcudafe cudafe-options Xcicc cicc-options "
      "static-global-template-stub device-entity-has-hidden-visibility t threads "
      "split-compile split-compile-extended fdevice-time-trace keep-dir time run-args "
      "idp input-drive-prefix ddp dependency-drive-prefix dp drive-prefix arch gpu-architecture code "
      "gpu-code "
      "gencode generate-code rdc relocatable-device-code e entries maxrregcount ftz prec-div prec-sqrt fmad "
      "default-stream Werror diag-error diag-suppress diag-warn hls host-linker-script "
      "brief-diag brief-diagnostics jtd jump-table-density device-stack-protector compress-mode frandom-seed "
      "sanitize optf options-file qpp-config register-usage-level");
  return names.count(name) > 0;
}

std::string joined_option(const std::string& name) {
  static const Names joined = names_in("D U I L l O m"),
                     flags = names_in("lineinfo m32 m64 link lib lto ltoir");
  const bool is_other = takes_value(name) || flags.count(name) > 0 || other_phases().count(name) > 0 ||
                        other_compiles().count(name) > 0;
  const std::string first = name.substr(0, 1);
  return name.size() > 1 && !is_other && joined.count(first) > 0 ? first : "";
}

std::string other_phase(const std::string& name) {
  const auto found = other_phases().find(name);
  return found == other_phases().end() ? "" : found->second;
}

const OtherCompile* other_compile(const std::string& name) {
  const auto found = other_compiles().find(name);
  return found == other_compiles().end() ? nullptr : &found->second;
}

bool is_relocatable_compile(const std::string& name) {
  static const Names names = names_in(k_relocatable_names);
  return names.count(name) > 0;
}

bool is_refused_by_host(const std::string& word) {
  static const std::vector<std::string> beginnings = {"-save-temps", "--save-temps",
                                                      "-fdump",      "-fprofile",
                                                      "--coverage",  "-ftest-coverage",
                                                      "-fcallgraph", "-fstack-usage",
                                                      "-fplugin",    "-specs",
                                                      "-M",          "-wrapper",
                                                      "-Wa,",        "-Wp,",
                                                      "-g",          "-flto",
                                                      "-include",    "-imacros",
                                                      "-fpch",       "-fmodule",
                                                      "@",           "-fsanitize",
                                                      "-o",          "-x",
                                                      "-E",          "-S"};
  return starts_with_one_of(word, beginnings);
}

}  // namespace dsbuild
