#include "base/text.h"
#include "toolkit/nvcc_family.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_dry_run_mark = "#$ ";

// Reads what nvcc would run: "#$ NAME=value" and "#$ program words".
class DryRun {
 public:
  explicit DryRun(const std::string& text) {
    for (const std::string& line : split_lines(text))
      if (line.starts_with(k_dry_run_mark)) take(line.substr(k_dry_run_mark.size()));
  }

  Paths parts(const FileReader& files) const {
    Paths found = programs(files);
    if (const std::string here = value_of("_HERE_"); !here.empty())
      found.insert({here + "/nvcc", here + "/nvcc.profile"});
    found.merge(libdevice(files));
    for (const std::string& word : shell_split(value_of("INCLUDES"))) {
      // What cudafe++ writes includes these, and nvcc's depfile does not name them.
      const Path folder = word.starts_with("-I") ? word.substr(2) : "";
      add_all_in(folder / "crt", files, found);
      found.insert((folder / "fatbinary_section.h").string());
    }
    return found;
  }

  Paths programs(const FileReader& files) const {
    Paths found;
    for (const std::string& program : programs_)
      if (const auto path = find_program(files, program, value_of("PATH"))) found.insert(path->string());
    return found;
  }

  Paths libdevice(const FileReader& files) const {
    Paths found;
    add_all_in(value_of("NVVMIR_LIBRARY_DIR"), files, found);
    return found;
  }

 private:
  void take(const std::string& line) {
    const size_t equals = line.find('=');
    if (equals != std::string::npos && line.find_first_of(" \"/") > equals) {
      variables_[line.substr(0, equals)] = line.substr(equals + 1);
      return;
    }
    const Args words = shell_split(line);
    if (!words.empty()) programs_.insert(replace_all(words.front(), "$CICC_PATH", value_of("CICC_PATH")));
  }
  static void add_all_in(const Path& folder, const FileReader& files, Paths& found) {
    const auto names = files.list(folder);
    for (const std::string& name : names ? *names : std::vector<std::string>{})
      found.insert((folder / name).string());
  }
  std::string value_of(const std::string& name) const {
    const auto found = variables_.find(name);
    return found == variables_.end() ? "" : found->second;
  }

  std::map<std::string, std::string> variables_;
  std::set<std::string> programs_;
};

bool lists_gpu_codes(const std::string& said, const Path&, const FileReader&) {
  return said.find("--gpu-code") != std::string::npos;
}

}  // namespace

// Not the dry run, for which it starts its host compiler.
const DriverProof& nvcc_proof() {
  static const DriverProof proof = {{"--help"}, lists_gpu_codes};
  return proof;
}

Args nvcc_question(const Toolkit& toolkit) {
  Args argv = {toolkit.compiler().string()};
  if (toolkit.host) argv.insert(argv.end(), {"-ccbin", toolkit.host->path.string()});
  argv.insert(argv.end(), {"--dryrun", "-c", "dsbuild.cu", "-o", "dsbuild.o"});
  return argv;
}

// All programs but the host compiler, and what cicc reads unasked.
Paths nvcc_device_parts(const std::string& said, const Toolkit& toolkit, const FileReader& files) {
  const DryRun run(said);
  Paths found = run.programs(files);
  std::erase_if(found, [&](const std::string& program) {
    return Path(program).filename() == "rm" || (toolkit.host && program == toolkit.host->path);
  });
  found.merge(run.libdevice(files));
  return found;
}

Paths nvcc_parts(const std::string& said, const Toolkit& toolkit, const FileReader& files) {
  Paths found = DryRun(said).parts(files);
  found.insert((toolkit.home / "bin" / "nvcc.profile").string());
  return found;
}

}  // namespace dsbuild
