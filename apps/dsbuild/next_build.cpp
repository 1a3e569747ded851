#include "next_build.h"

#include "base/args.h"
#include "bundle/bundle.h"

namespace dsbuild {
namespace {

// Where the ops of a pack go, and as which options.
struct BundlePlace {
  std::string folder;
  Args options;
};

// A bundle is of one pack: ops of another go into a folder of their own.
BundlePlace place_for(const std::string& pack, const Settings& settings, const System& system) {
  const FileReader& files = system.files;
  const bool is_named = settings.given.contains("--out");
  const auto of_same_pack = [&](const Path& folder) {
    const auto manifest = load_manifest(folder, files);
    return manifest && manifest->pack == name_of_folder(pack);
  };
  const Path usual = settings.out.value;
  BundlePlace place{usual.string(), is_named ? Args{"--out", usual.string()} : Args{}};
  if (files.kind(usual) == FileKind::absent) return place;
  if (!of_same_pack(usual)) {
    place.folder = usual.string() + "-" + name_of_folder(pack);
    place.options = {"--out", place.folder};
    if (!of_same_pack(place.folder)) return place;
  }
  place.options.emplace_back("--add");
  return place;
}

}  // namespace

std::string build_and_test(const NewOp& made, const Settings& settings, const System& system) {
  const BundlePlace place = place_for(made.pack, settings, system);
  const Args given = given_options(settings, {"--pack", "--ops", "--out", "--add"});
  Args words = {"--pack", made.pack, "--ops", made.name};
  words.insert(words.end(), place.options.begin(), place.options.end());
  const std::string bundle =
      place.folder == "dsbuild-out" ? "" : "DSBUILD_BUNDLE=" + shell_quote(place.folder) + " ";
  return own_command(words, given) + " && " + bundle + shell_join({settings.python.value, made.test});
}

std::string build_of_project(const WrittenProject& written, const Settings& settings, const System& system) {
  const std::string& pack = settings.pack.value;
  BundlePlace place = place_for(pack, settings, system);
  std::erase(place.options, "--add");  // all of its ops are built
  Args words = {"--pack", pack, "--ops", "all"};
  if (!written.pack.archs.empty()) words.insert(words.end(), {"--arch", written.pack.archs});
  words.insert(words.end(), place.options.begin(), place.options.end());
  Args named = {"--pack", "--ops", "--out", "--add"};
  if (!written.pack.archs.empty()) named.emplace_back("--arch");
  return own_command(words, given_options(settings, named));
}

std::vector<std::string> builds_of_workload(const Workload& workload, const std::string& file,
                                            const Settings& settings, const System& system) {
  std::vector<std::string> commands;
  const bool is_one = workload.packs.size() == 1;
  for (const auto& [pack, ops] : workload.packs) {
    Args words = {"--ops", "@" + file};
    if (!is_one) words.insert(words.begin(), {"--pack", pack});
    BundlePlace place = place_for(pack, settings, system);
    std::erase(place.options, "--add");  // what was recorded before is in the file
    if (!is_one) place.options = {"--out", settings.out.value.string() + "-" + name_of_folder(pack)};
    words.insert(words.end(), place.options.begin(), place.options.end());
    commands.push_back(own_command(words, given_options(settings, {"--pack", "--ops", "--out"})));
  }
  return commands;
}

}  // namespace dsbuild
