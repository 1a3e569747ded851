#include "requirements/torch.h"

#include <algorithm>

namespace dsbuild {
namespace {

// "'12.8'" -> "12.8"; "None" -> "".
std::string text_of(const std::string& literal) {
  const bool quoted = literal.size() >= 2 && (literal.front() == '\'' || literal.front() == '"') &&
                      literal.back() == literal.front();
  return quoted ? literal.substr(1, literal.size() - 2) : "";
}

// The flags of the C++ ABI are attributes of the imported torch; the same is in the libraries: what c10's own
// Error is made of (other names with __cxx11 come from libstdc++ itself), and the id under which pybind11's
// modules find each other.
const char k_describe_torch[] = R"py(
import importlib.metadata, mmap, os, re
try:
    torch = importlib.metadata.distribution(sys.argv[1])
except importlib.metadata.PackageNotFoundError:
    print("no Python package " + sys.argv[1])
    sys.exit(1)
version_file = str(torch.locate_file("torch/version.py"))
home = os.path.dirname(version_file)
def bytes_of(name):
    try:
        with open(os.path.join(home, name), "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return b""
def search(pattern, data):
    found = re.search(pattern, data, re.DOTALL)
    return [group.decode() for group in found.groups()] if found else []
builder = bytes_of("utils/cpp_extension.py")
std = search(rb"""prefix \+ ['"]c\+\+(\d\d)['"]""", builder)
cxx11_abi = "1" if search(rb"(3c105ErrorC[12]E\w*NSt7__cxx11)", bytes_of("lib/libc10.so")) else "0"
flags = []
if search(rb"(_PYBIND11_)", builder):
    pattern = rb"__pybind11_internals_v\d+(_[a-z]+)(_[a-z]+)(_cxxabi\d+)"
    values = search(pattern, bytes_of("lib/libtorch_python.so"))
    for name, value in zip(["COMPILER_TYPE", "STDLIB", "BUILD_ABI"], values):
        flags.append('-DPYBIND11_%s="%s"' % (name, value))
if search(rb"(_GLIBCXX_USE_CXX11_ABI)", builder):
    flags.append("-D_GLIBCXX_USE_CXX11_ABI=" + cxx11_abi)
def flags_of(name):
    words = search(name + rb""" = \[(.*?)\]""", builder)
    return " ".join(re.findall(r"""['"](-D[^'"]+)['"]""", "".join(words)))
facts.update(hip_flags=flags_of(rb"COMMON_HIP_FLAGS"), hipcc_flags=flags_of(rb"COMMON_HIPCC_FLAGS"))
old = [name for name in ("TH", "THC") if search(rb"(lib_include, 'TH')", builder)
       and os.path.isdir(os.path.join(home, "include", name))]
facts.update(torch=torch.version, home=home, old_headers=" ".join(old), std="".join(std), cxx11_abi=cxx11_abi, abi_flags=" ".join(flags))
tell(version_file)
)py";

Torch read_torch(const FileReader& files, const FileBackedFact& answer) {
  std::map<std::string, std::string> facts = read_facts(answer.answer);
  const Result<std::string> text = files.read_file(answer.file);
  Torch torch = text ? parse_torch_version_file(printable(*text)) : Torch{};
  if (torch.version.empty()) torch.version = facts["torch"];
  torch.home = facts["home"];
  torch.cxx11_abi = facts["cxx11_abi"] == "1";
  torch.std = parse_version(facts["std"]).value_or(Version{}).major();
  torch.abi_flags = split(facts["abi_flags"], " ");
  torch.old_headers = split(facts["old_headers"], " ");
  torch.hip_flags = split(facts["hip_flags"], " ");
  torch.hipcc_flags = split(facts["hipcc_flags"], " ");
  torch.python = read_python(facts);
  return torch;
}

// Which accelerator it is depends on torch too.
bool asks_for_torch(const When& when) {
  return when.torch || !when.accelerator.empty() ||
         std::any_of(when.or_else.begin(), when.or_else.end(),
                     [](const When& other) { return asks_for_torch(other); });
}

bool asks_for_torch(const OpSpec& spec) {
  const auto asks = [](const auto& entries) {
    return std::any_of(entries.begin(), entries.end(),
                       [](const auto& entry) { return asks_for_torch(entry.when); });
  };
  const auto flags_ask = [&](const Flags& flags) {
    return asks(flags.cxx) || asks(flags.nvcc) || asks(flags.link);
  };
  const bool sources_ask =
      asks(spec.sources) || std::any_of(spec.sources.begin(), spec.sources.end(),
                                        [&](const SourceSpec& source) { return flags_ask(source.flags); });
  const bool is_hipified = std::ranges::any_of(spec.sources, &SourceSpec::hipify);
  return sources_ask || is_hipified || asks(spec.needs) || asks(spec.include_dirs) || asks(spec.defines) ||
         flags_ask(spec.flags) || asks(spec.libraries) || asks(spec.requires_) || asks(spec.exports) ||
         asks_for_torch(spec.when) || requires_torch(spec);
}

}  // namespace

Torch parse_torch_version_file(std::string_view text) {
  Torch torch;
  for (const std::string& line : split_lines(text)) {
    const size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    const std::string name =
        trim(line.substr(0, line.find_first_of(":=")));  // "cuda: Optional[str] = '12.8'"
    const std::string value = text_of(trim(line.substr(equals + 1)));
    if (name == "__version__") torch.version = value;
    if (name == "cuda") torch.cuda = value;
    if (name == "hip") torch.hip = value;
  }
  return torch;
}

Result<Torch> find_torch(const Interpreter& python) {
  DSBUILD_TRY(answer, ask_python(python, "python package torch, 4",
                                 std::string(k_facts_prelude) + k_describe_torch, "torch"));
  Torch torch = read_torch(python.system.files, answer);
  if (!torch.number().empty()) return torch;
  return fail(Exit::unmet, "python", python.program,
              "torch has no version that can be read: '" + printable(torch.version) + "'");
}

bool requires_torch(const OpSpec& spec) {
  return std::any_of(spec.requires_.begin(), spec.requires_.end(), [](const Requirement& requirement) {
    return requirement.kind == RequirementKind::torch;
  });
}

bool asks_for_torch(const Registry& registry) {
  return std::any_of(registry.ops.begin(), registry.ops.end(),
                     [](const OpBuilder& op) { return asks_for_torch(op.spec()); });
}

}  // namespace dsbuild
