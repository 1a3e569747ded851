#include "toolkit/configuration_files.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace dsbuild {
namespace {

// gcc, and for -fopenmp (gcc/gcc.cc: read_specs, "%:include(libgomp.spec)").
constexpr std::array k_specs = {"specs", "libgomp.spec"};
constexpr std::array k_search_lists = {"install: ", "programs: =", "libraries: ="};
// clang, the last ones from version 16 on (clang/lib/Driver/Driver.cpp: loadDefaultConfigFiles).
constexpr std::array k_folders_of_cfg = {
    "InstalledDir: ", "System configuration file directory: ", "User configuration file directory: "};
constexpr std::string_view k_cfg = "Configuration file: ";

// In one word or in two.
constexpr std::array k_options_with_file = {"-specs",
                                            "--specs",
                                            "--options-file",
                                            "-optf",
                                            "--config",
                                            "-fplugin",
                                            "-fpass-plugin",
                                            "-fprofile-use",
                                            "-fprofile-instr-use",
                                            "-fprofile-sample-use",
                                            "-fauto-profile",
                                            "-fmodule-map-file",
                                            "-fmodule-file",
                                            "-fsanitize-ignorelist",
                                            "-fsanitize-blacklist"};
// They carry words for another tool, separated by commas.
constexpr std::array k_carriers = {"-Xcompiler", "--compiler-options", "-Xlinker", "--linker-options",
                                   "-Xptxas",    "--ptxas-options",    "-Xcudafe", "-Xfatbin",
                                   "-Xnvlink",   "--nvlink-options",   "-Wl",      "-Wa",
                                   "-Wp"};
constexpr std::array k_parts = {"as",       "ld",          "real-ld", "collect-ld",  "cc1plus",
                                "collect2", "lto-wrapper", "specs",   "libgomp.spec"};

void add_cfg_in(const Path& folder, const FileReader& files, Paths& found) {
  const auto names = files.list(folder);
  for (const std::string& name : names ? *names : Args())
    if (name.ends_with(".cfg")) found.insert((folder / name).string());
}

void add_gcc_files(const std::string& said, Paths& found) {
  for (const std::string& line : split_lines(said))
    for (const std::string_view list : k_search_lists)
      if (line.starts_with(list))
        for (const std::string& folder : split(line.substr(list.size()), ":"))
          for (const char* name : k_specs)
            if (folder.starts_with('/')) found.insert((Path(folder) / name).string());
}

void add_clang_files(const std::string& said, const FileReader& files, Paths& found) {
  for (const std::string& line : split_lines(said)) {
    for (const std::string_view before : k_folders_of_cfg)
      if (line.starts_with(before)) add_cfg_in(line.substr(before.size()), files, found);
    if (line.starts_with(k_cfg)) found.insert(line.substr(k_cfg.size()));
  }
}

// Words with their values, and with what they carry.
Args with_carried(const Args& flags) {
  Args all;
  for (size_t i = 0; i < flags.size(); ++i) {
    all.push_back(flags[i]);
    const bool carries = std::ranges::any_of(k_carriers, [&](const std::string& carrier) {
      return flags[i] == carrier || flags[i].starts_with(carrier + "=") ||
             flags[i].starts_with(carrier + ",");
    });
    if (!carries) continue;
    std::string carried = flags[i].substr(std::min(flags[i].find_first_of("=,"), flags[i].size()));
    if (carried.empty() && i + 1 < flags.size()) carried = flags[i + 1];
    for (const std::string& word : split(carried.substr(carried.starts_with('=') ? 1 : 0), ","))
      all.push_back(word);
  }
  return all;
}

// gcc's specs: "%include <file>", "%include_noerr <file>"; "" for other lines.
std::string included_by_specs(const std::string& line) {
  const size_t begin = line.find('<'), end = line.find('>');
  if (!line.starts_with("%include") || begin == std::string::npos || end == std::string::npos) return "";
  return line.substr(begin + 1, end - begin - 1);
}

// Files of flags, and what they name in turn.
class NamedFiles {
 public:
  explicit NamedFiles(const FileReader& files) : files_(files) {}

  void take_words(const Args& flags, const Path& folder) {
    const Args words = with_carried(flags);
    for (size_t i = 0; i < words.size(); ++i)
      take_word(words[i], i + 1 < words.size() ? words[i + 1] : "", folder);
  }

  // Names in it are those of the folder where tools work, or of its own.
  void take_file(const std::string& file, const Path& folder) {
    if (!found_.insert(file).second || files_.kind(file) != FileKind::file) return;
    const auto text = files_.read_file(file);
    if (!text || text->size() > k_longest) return;
    Args words;
    for (const std::string& line : split_lines(*text)) {
      const Args of_line = shell_split(line);
      words.insert(words.end(), of_line.begin(), of_line.end());
      if (const std::string more = included_by_specs(line); !more.empty()) words.push_back("@" + more);
    }
    for (const Path& from : std::set{folder, Path(file).parent_path()})
      take_words(words, from);
  }

  Paths take() { return std::move(found_); }

 private:
  static constexpr size_t k_longest = 1 << 20;

  void take_word(const std::string& word, const std::string& next, const Path& folder) {
    const auto take = [&](const std::string& name) {
      if (!name.empty()) take_file((folder / name).string(), folder);
    };
    if (word.starts_with('@')) take(word.substr(1));
    for (const std::string option : k_options_with_file) {
      if (word == option) take(next);
      if (word.starts_with(option + "=")) take(word.substr(option.size() + 1));
    }
    if (word.starts_with("-B")) take_parts((folder / (word == "-B" ? next : word.substr(2))).string());
  }

  void take_parts(const std::string& prefix) {
    for (const char* part : k_parts)
      for (const char* between : {"", "/"})
        found_.insert(prefix + between + part);
  }

  const FileReader& files_;
  Paths found_;
};

}  // namespace

bool is_of_clang(const std::vector<std::string>& said) {
  return std::ranges::any_of(
      said, [](const std::string& text) { return text.find("clang version ") != std::string::npos; });
}

Paths configuration_files(const Path& program, const std::vector<std::string>& said,
                          const FileReader& files) {
  const bool is_clang = is_of_clang(said);
  Paths found;
  for (const std::string& text : said)
    is_clang ? add_clang_files(text, files, found) : add_gcc_files(text, found);
  for (const Path& own : {program, files.real_path(program).value_or(program)})
    if (is_clang) add_cfg_in(own.parent_path(), files, found);
  NamedFiles named(files);
  for (const std::string& file : found)
    named.take_file(file, Path(file).parent_path());
  return named.take();
}

Paths folders_of_choice(const std::vector<std::string>& said) {
  constexpr std::array<std::string_view, 2> k_before = {"Found candidate GCC installation: ",
                                                        "Found CUDA installation: "};
  Paths found;
  for (const std::string& text : said)
    for (const std::string& line : split_lines(text))
      for (const std::string_view before : k_before)
        if (line.starts_with(before))
          found.insert(Path(split(line.substr(before.size()), ",").front()).parent_path().string());
  return found;
}

Paths files_in_flags(const Args& flags, const Path& folder, const FileReader& files) {
  NamedFiles named(files);
  named.take_words(flags, folder);
  return named.take();
}

}  // namespace dsbuild
