// The row of SYCL: icpx of Intel's oneAPI. Source: the users' manuals of DPC++ and of ocloc, Intel's
// installer.
#include "arch/intel.h"
#include "base/build_layout.h"
#include "base/text.h"
#include "sys/site_packages.h"
#include "toolkit/compiler_facts.h"
#include "toolkit/family.h"

namespace dsbuild {
namespace {

using Reason = tl::unexpected<std::string>;

constexpr const char* k_icpx = "bin/icpx";

// ONEAPI_ROOT names the folder of all that oneAPI has.
std::vector<ToolkitCandidate> icpx_candidates(const Settings& settings, const System& system) {
  const FileReader& files = system.files;
  std::vector<ToolkitCandidate> found;
  if (const std::string root = settings.variable("ONEAPI_ROOT"); !root.empty())
    found.push_back({Path(root) / "compiler/latest", "ONEAPI_ROOT", true});
  const auto icpx = find_program(system, "icpx");
  const auto real = icpx ? files.real_path(*icpx) : std::nullopt;
  if (real) found.push_back({real->parent_path().parent_path(), "PATH"});
  const Path opt = "/opt/intel/oneapi/compiler";
  found.push_back({opt / "latest", "/opt"});
  for (const std::string& version : by_version(files, opt, "20"))
    found.push_back({opt / version, "/opt"});
  return found;
}

// What makes the code of devices, a package of its own; "" where it is not there, and icpx makes SPIR-V
// alone.
Path find_ocloc(const Environment& environment, const FileReader& files) {
  return find_program(files, "ocloc", environment).value_or(Path{});
}

// "Intel(R) oneAPI DPC++/C++ Compiler 2026.2.0 (2026.2.0.20260930)"
tl::expected<Version, std::string> ask_version(const Path& compiler, System& system,
                                               const Environment& environment) {
  const auto answer = run_compiler({compiler.string(), "--version"}, k_icpx, system, environment);
  if (!answer) return Reason(answer.error());
  if (!answer->ok()) return Reason(why_it_failed(*answer, k_icpx));
  constexpr std::string_view k_before = "C++ Compiler ";
  const size_t at = answer->out.find(k_before);
  const auto version =
      parse_version(std::string_view(answer->out)
                        .substr(std::min(at, answer->out.size() - k_before.size()) + k_before.size()));
  if (at == std::string::npos || !version) return Reason(std::string(k_icpx) + " names no version of DPC++");
  return *version;
}

// Its help lists them: "<device_type> can be: bdw, skl, …". It ends with a code.
ArchSet ask_devices(const Path& ocloc, System& system, const Environment& environment) {
  const auto answer = run_compiler({ocloc.string(), "compile", "--help"}, "ocloc", system, environment);
  if (!answer) return {};
  constexpr std::string_view k_before = "can be:";
  const size_t at = answer->out.find(k_before);
  ArchSet devices;
  if (at == std::string::npos) return devices;
  const std::string list = split(answer->out.substr(at + k_before.size()), "\n").front();
  for (const std::string& word : split(list, ", "))
    if (const auto device = intel().parse_name(word)) devices.insert(*device);
  return devices;
}

// What ocloc loads while it runs nobody says.
FactBasis basis_of_devices(const Path& icpx, const Path& ocloc, System& system, FactStore& facts) {
  FactBasis basis = basis_of_answers(icpx, proof_of_host_compiler(), "", system, facts);
  if (ocloc.empty()) return basis;
  basis.files.push_back(ocloc);
  basis.is_of_machine = true;
  return basis;
}

CompilerQuestion question_to_icpx(const Toolkit& toolkit, System& system, FactStore& facts) {
  const Environment environment = tool_environment(system, &toolkit);
  const Path program = toolkit.compiler(), ocloc = find_ocloc(environment, system.files);
  return {"icpx " + program.string() + " with " + ocloc.string(),
          basis_of_devices(program, ocloc, system, facts), [=, &system]() -> CompilerAnswer {
            const auto version = ask_version(program, system, environment);
            if (!version) return Reason(version.error());
            CompilerFacts found;
            found.version = *version;
            if (!ocloc.empty()) found.targets = ask_devices(ocloc, system, environment);
            found.targets.insert(spir64());
            return found;
          }};
}

tl::expected<void, std::string> describe_icpx(Toolkit& toolkit, System& system, FactStore& facts) {
  toolkit.library_dir = toolkit.home / "lib";
  if (system.files.kind(toolkit.library_dir / "libsycl.so") != FileKind::file)
    return Reason("it has no lib/libsycl.so");
  auto said = answer_of(question_to_icpx(toolkit, system, facts), facts);
  if (!said) return Reason(said.error());
  toolkit.version = said->version;
  toolkit.targets = std::move(said->targets);
  return {};
}

bool icpx_answers_as_known(const Toolkit& toolkit, System& system, FactStore& facts) {
  return answers_as_known(question_to_icpx(toolkit, system, facts), facts);
}

// What it would run for the host and for both targets, and ocloc, which it starts for a device link.
Args icpx_question(const Toolkit& toolkit) {
  return {toolkit.compiler().string(),
          "-###",
          "-fsycl",
          "-fsycl-targets=spir64_gen,spir64",
          "-c",
          "-x",
          "c++",
          "/dev/null",
          "-o",
          "dsbuild.o"};
}

Paths icpx_parts(const std::string& said, const Toolkit& toolkit, const FileReader& files) {
  Paths found = files_named_in(said, files);
  found.insert("ocloc");
  // SYCL's own device code, which a device link takes.
  if (const auto names = files.list(toolkit.library_dir))
    for (const std::string& name : *names)
      if (name.starts_with("libsycl-")) found.insert((toolkit.library_dir / name).string());
  return found;
}

}  // namespace

const CompilerFamily k_icpx_family = {
    .name = "oneAPI DPC++",
    .brand = "oneAPI",
    .tool = k_icpx_tool,
    .vendor = intel,
    .compiler = k_icpx,
    .configuration = "bin/icpx.cfg",
    .host_option = nullptr,
    .home = &Settings::oneapi_home,
    .home_option = "--oneapi-home",
    .home_variables = {"CMPLR_ROOT"},
    .candidates = icpx_candidates,
    .other_compilers = nullptr,
    .describe = describe_icpx,
    .answers_as_known = icpx_answers_as_known,
    .proof = proof_of_host_compiler,
    .question = icpx_question,
    .parts = icpx_parts,
    .device_parts = nullptr,
    .include_question = nullptr,
    .install =
        "install Intel's oneAPI DPC++/C++ compiler and ocloc: packages "
        "intel-oneapi-compiler-dpcpp-cpp and intel-ocloc of Intel's repository"};

}  // namespace dsbuild
