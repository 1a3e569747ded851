#include "nvcc/nvcc_commands.h"

#include <algorithm>

#include "base/text.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_mark = "#$ ";

void remove_word(Args& words, std::string_view word) {
  words.erase(std::remove(words.begin(), words.end(), word), words.end());
}

void remove_with_prefix(Args& words, std::string_view prefix) {
  std::erase_if(words, [&](const std::string& word) { return word.starts_with(prefix); });
}

void replace_in_words(Args& words, const std::string& from, const std::string& to) {
  for (std::string& word : words)
    word = replace_all(std::move(word), from, to);
}

std::string program_name(const Args& words) {
  return words.empty() ? "" : Path(words.front()).filename().string();
}

struct Assignment {
  std::string name, value;
};

// "NAME=value", blanks and all.
std::optional<Assignment> read_assignment(const std::string& line) {
  const size_t equals = line.find('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  const std::string name = line.substr(0, equals);
  const bool is_name =
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
  if (!is_name) return std::nullopt;
  return Assignment{name, line.substr(equals + 1)};
}

// -g, -g1, -ggdb, -gdwarf-4; not -gencode, which no step has.
bool asks_for_debug_information(const std::string& word) {
  return word.starts_with("-g") && word != k_line_information;
}

bool is_of_another_way(const std::string& word) {
  static const std::vector<std::string> words = {"--device-c", "--partial-link", "-ewp",
                                                 "-olto",      "--debug_mode",   "-show-src"};
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool reads_another_file(const std::string& word) {
  static const std::vector<std::string> beginnings = {"-include",      "-imacros", "@",
                                                      "-fprofile-use", "-fplugin", "-specs"};
  return starts_with_one_of(word, beginnings);
}

class Reader {
 public:
  LearntCommands read(std::string_view text) {
    for (const std::string& line : split_lines(text)) {
      if (!line.starts_with(k_mark)) commands_.said += line + "\n";
      if (!line.starts_with(k_mark)) continue;
      if (!take(line.substr(k_mark.size()))) return unknown(line);
    }
    if (const std::string missing = what_is_missing(); !missing.empty()) return unknown(missing);
    if (const std::string word = other_way(); !word.empty()) return tl::unexpected("has " + word);
    name_files();
    return std::move(commands_);
  }

 private:
  static tl::unexpected<std::string> unknown(const std::string& line) {
    return tl::unexpected("nvcc's dry run has a step that dsbuild does not know: " + printable(line));
  }

  bool take(const std::string& line) {
    if (const auto assignment = read_assignment(line)) {
      // Those that tools look at; the others are for the commands' own text.
      if (assignment->name == "PATH" || assignment->name == "NVVMIR_LIBRARY_DIR")
        commands_.environment[assignment->name] = assignment->value;
      if (assignment->name == "CICC_PATH") cicc_path_ = assignment->value;
      return true;
    }
    return take_command(shell_split(line));
  }

  bool take_command(Args words) {
    if (words.empty()) return false;
    replace_in_words(words, "$CICC_PATH", cicc_path_);
    const std::string program = program_name(words);
    if (program == "cudafe++") return put(commands_.front_end, std::move(words));
    if (program == "cicc") return take_compile(std::move(words));
    if (program == "ptxas") return take_assemble(std::move(words));
    if (program == "fatbinary") return put(commands_.fatbinary, std::move(words));
    if (has_word(words, "-E") && has_word(words, "-x")) return take_preprocess(std::move(words));
    if (has_word(words, "-c") && has_word(words, "-x")) return put(commands_.host_compile, std::move(words));
    return false;
  }

  static bool put(Args& place, Args words) {
    if (!place.empty()) return false;
    place = std::move(words);
    return true;
  }

  bool take_preprocess(Args words) {
    for (const std::string& word : words)
      if (word.starts_with(k_arch_list)) commands_.arch_list = word.substr(std::string(k_arch_list).size());
    const bool is_device = std::any_of(words.begin(), words.end(), [](const std::string& word) {
      return word.starts_with("-D__CUDA_ARCH__=");
    });
    if (!is_device) return put(commands_.host_preprocess, std::move(words));
    preprocesses_.push_back(std::move(words));
    return true;
  }

  bool take_compile(Args words) {
    DeviceCommands device;
    device.arch = value_of(words, "-arch");
    for (const Args& preprocess : preprocesses_)
      if (has_word(words, value_of(preprocess, "-o"))) device.preprocess = preprocess;
    device.compile = std::move(words);
    if (device.arch.empty() || device.preprocess.empty()) return false;
    commands_.devices.push_back(std::move(device));
    return true;
  }

  bool take_assemble(Args words) {
    for (DeviceCommands& device : commands_.devices)
      if (has_word(words, value_of(device.compile, "-o"))) {
        device.assemble.push_back(std::move(words));
        return true;
      }
    return false;
  }

  std::string what_is_missing() const {
    if (commands_.host_preprocess.empty()) return "none preprocesses for the host";
    if (commands_.front_end.empty()) return "none is cudafe++";
    if (commands_.devices.empty() || commands_.devices.size() != preprocesses_.size())
      return "cicc does not compile each arch";
    if (commands_.fatbinary.empty()) return "none is fatbinary";
    if (commands_.host_compile.empty()) return "none compiles for the host";
    return "";
  }

  // A word of steps that make something else than parts for one library, that debug device code, or that
  // read what no text before them shows; "" for none. However the flags that lead to it were spelled.
  std::string other_way() const {
    std::vector<const Args*> all = {&commands_.front_end, &commands_.fatbinary};
    for (const DeviceCommands& device : commands_.devices) {
      all.push_back(&device.compile);
      for (const Args& assemble : device.assemble)
        all.push_back(&assemble);
    }
    for (const Args* words : all)
      for (const std::string& word : *words)
        if (is_of_another_way(word) || asks_for_debug_information(word)) return word;
    for (const std::string& word : commands_.host_compile)
      if (is_of_another_way(word) || reads_another_file(word)) return word;
    return "";
  }

  // The host's files are named after the arch whose stub they include.
  void name_files() {
    const std::string stub = value_of(commands_.front_end, "--stub_file_name");
    for (const DeviceCommands& device : commands_.devices)
      if (Path(value_of(device.compile, "--stub_file_name")).filename() == Path(stub).filename())
        commands_.stub_arch = device.arch;
    replace_source_path(commands_.front_end);
    for (DeviceCommands& device : commands_.devices)
      replace_source_path(device.compile);
    const std::string unit = k_any_unit;
    const std::string old = stub.substr(0, stub.find(".cudafe1"));  // dsbuild_tu.compute_80
    for (Args* words : {&commands_.front_end, &commands_.host_compile})
      replace_in_words(*words, old + ".cudafe1", unit + ".cudafe1");
    remove_word(commands_.front_end, "--gen_module_id_file");
    remove_with_prefix(commands_.fatbinary, "--embedded-fatbin=");
    remove_with_prefix(commands_.host_compile, "-D__CUDA_ARCH");
    for (DeviceCommands& device : commands_.devices) {
      remove_word(device.compile, "--gen_module_id_file");
      if (value_of(device.compile, "-o") == unit + ".ptx") name_device_files(device);
    }
    for (const DeviceCommands& device : commands_.devices)
      commands_.order.push_back(device.arch);
    std::sort(commands_.devices.begin(), commands_.devices.end(),
              [](const DeviceCommands& a, const DeviceCommands& b) { return a.arch < b.arch; });
  }

  // It is that of the folder in which the dry run was asked.
  static void replace_source_path(Args& words) {
    const auto option = std::find(words.begin(), words.end(), "--orig_src_path_name");
    if (option != words.end() && option + 1 != words.end()) *(option + 1) = k_any_source;
  }

  // With one arch alone nvcc leaves it out of the names: "dsbuild_tu.ptx".
  void name_device_files(DeviceCommands& device) {
    for (Args* words : {&device.preprocess, &device.compile, &commands_.fatbinary})
      name_files_of(*words, device.arch);
    for (Args& words : device.assemble)
      name_files_of(words, device.arch);
  }

  static void name_files_of(Args& words, const std::string& arch) {
    const std::string unit = std::string(k_any_unit) + ".", full = unit + arch + ".";
    replace_in_words(words, unit, full);
    for (const char* shared : {"module_id", "fatbin", "cu"})  // of all archs: and "fatbin.c"
      for (std::string& word : words)
        if (word.ends_with(full + shared) || word.ends_with(full + "fatbin.c"))
          word = replace_all(word, full, unit);
  }

  NvccCommands commands_;
  std::vector<Args> preprocesses_;
  std::string cicc_path_;
};

bool is_unsliceable(const std::string& word) {
  static const std::vector<std::string> beginnings = {"-keep",
                                                      "--keep",
                                                      "-time",
                                                      "--time",
                                                      "-fdevice-time-trace",
                                                      "-optf",
                                                      "--options-file",
                                                      "-rdc=true",
                                                      "--relocatable-device-code=true"};
  return starts_with_one_of(word, beginnings);
}

}  // namespace

bool has_word(const Args& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool has_option(const Args& command, const Args& beginnings) {
  return std::any_of(command.begin(), command.end(), [&](const std::string& word) {
    const Args options = split(word, "=,");
    return std::any_of(options.begin(), options.end(), [&](const std::string& option) {
      return !option.starts_with("-gencode") && starts_with_one_of(option, beginnings);
    });
  });
}

std::string value_of(const Args& words, std::string_view option) {
  const auto found = std::find(words.begin(), words.end(), option);
  return found == words.end() || found + 1 == words.end() ? "" : *(found + 1);
}

std::string unsliceable_flag(const Args& nvcc) {
  const auto found = std::find_if(nvcc.begin(), nvcc.end(), is_unsliceable);
  return found == nvcc.end() ? "" : *found;
}

bool has_line_information(const Args& compile) {
  return has_word(compile, k_line_information);
}

Args dry_run_command(const Args& nvcc) {
  Args words;
  for (const std::string& word : nvcc) {
    if (word == "--objdir-as-tempdir" || word.starts_with("--threads=")) continue;
    words.push_back(word.starts_with("-frandom-seed=") ? "-frandom-seed=" + std::string(k_any_seed) : word);
  }
  const std::string unit = k_any_unit;
  words.insert(words.end(), {"--dryrun", "--keep", "-c", k_any_source, "-o", unit + ".o"});
  return words;
}

LearntCommands parse_nvcc_commands(std::string_view dry_run) {
  return Reader().read(dry_run);
}

void name_roots(NvccCommands& commands, const Roots& roots) {
  for (auto& [name, value] : commands.environment)
    value = roots.named(value);
  std::vector<Args*> all = {&commands.host_preprocess, &commands.front_end, &commands.fatbinary,
                            &commands.host_compile};
  for (DeviceCommands& device : commands.devices) {
    all.insert(all.end(), {&device.preprocess, &device.compile});
    for (Args& assemble : device.assemble)
      all.push_back(&assemble);
  }
  for (Args* words : all)
    *words = roots.named(std::move(*words));
}

}  // namespace dsbuild
