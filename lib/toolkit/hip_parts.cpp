#include "base/text.h"
#include "toolkit/hip_family.h"

namespace dsbuild {

Args hip_question(const Toolkit& toolkit) {
  Args argv = {toolkit.compiler().string()};
  argv.insert(argv.end(), toolkit.own_flags.begin(), toolkit.own_flags.end());
  argv.insert(argv.end(), {"-###", "-c", "-x", "hip", "/dev/null", "-o", "dsbuild.o"});
  std::set<std::string> plain;
  for (const Target& target : toolkit.targets)
    plain.insert(target.base().flag());
  argv.insert(argv.end(), plain.begin(), plain.end());
  return argv;
}

Paths hip_parts(const std::string& said, const Toolkit&, const FileReader& files) {
  Paths found = files_named_in(said, files);
  for (const std::string& part : Paths(found)) {
    // Options choose among these: -ffast-math, -mwavefrontsize64.
    const Path folder = Path(part).parent_path();
    const auto names = Path(part).extension() == ".bc" ? files.list(folder) : Args{};
    for (const std::string& name : names ? *names : Args{})
      if (name.ends_with(".bc")) found.insert((folder / name).string());
  }
  return found;
}

// The compiler proper and the linker; a line that begins with a blank is a program that the driver starts.
Paths hip_device_parts(const std::string& said, const Toolkit&, const FileReader& files) {
  Paths found;
  for (const std::string& line : split_lines(said)) {
    const Args job = line.starts_with(" ") ? shell_split(line) : Args{};
    if (job.size() < 2 || (job[1] != "-cc1" && Path(job[0]).filename() != "lld")) continue;
    if (files.kind(job[0]) == FileKind::file) found.insert(job[0]);
  }
  return found;
}

Args hip_include_question(const Toolkit& toolkit) {
  Args argv = {toolkit.compiler().string()};
  argv.insert(argv.end(), toolkit.own_flags.begin(), toolkit.own_flags.end());
  argv.insert(argv.end(), {"-v", "-E", "--cuda-host-only", "-x", "hip", "/dev/null"});
  return argv;
}

}  // namespace dsbuild
