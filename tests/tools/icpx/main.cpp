// icpx -c | -fsycl-link: takes the lines that dsbuild plans for Intel's icpx and compiles, where there is no
// icpx. It lies in bin/ of a folder that has include/, lib/ and bin/ocloc of `get_toolkit.sh sycl`. As icpx
// does with -fsycl-host-compiler, it compiles a source for the device, which also makes a header with the
// kernels' names and parameters, and for the host with that header; -fsycl-link makes code for each target,
// and an object that hands all to SYCL's runtime. Device code between both is SPIR-V here, and LLVM's bitcode
// there.
#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include "depfile.h"
#include "device_image.h"
#include "files.h"
#include "register_images.h"
#include "sycl_compiler.h"

namespace icpx {
namespace {

using Words = std::vector<std::string>;

constexpr const char* k_version = "2026.2.0";

std::filesystem::path prefix() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

struct CommandLine {
  bool sycl = false, compile = false, link = false, depfile = false, only_says = false;
  std::string output, depfile_name, depfile_target, host_compiler;
  Words host_options, targets{"spir64"}, backend_options, inputs;
  Words device_arguments;  // clang's, all others
};

Words split(const std::string& text, char separator) {
  Words words;
  std::stringstream in(text);
  for (std::string word; std::getline(in, word, separator);)
    if (!word.empty()) words.push_back(word);
  return words;
}

// Words as a shell has them: blanks in quotes or behind a backslash are a word's own.
Words tokens(const std::string& text) {
  Words words;
  std::string word;
  bool is_word = false;
  char quote = '\0';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
      is_word = true;
    } else if (quote != '\0' ? c == quote : c == '"' || c == '\'') {
      quote = quote == '\0' ? c : '\0';
      is_word = true;
    } else if (quote == '\0' && c == ' ') {
      if (is_word) words.push_back(word);
      word.clear();
      is_word = false;
    } else {
      word += c;
      is_word = true;
    }
  }
  if (is_word) words.push_back(word);
  return words;
}

// An option by itself, with the next word, or with what stands behind its =.
struct Option {
  enum Form { alone, next_word, joined } form;
  void (*take)(CommandLine& line, const std::string& value);
};

const std::map<std::string, Option>& options() {
  using Line = CommandLine;
  using Text = const std::string;
  static const std::map<std::string, Option> table = {
      {"-fsycl", {Option::alone, [](Line& line, Text&) { line.sycl = true; }}},
      {"-c", {Option::alone, [](Line& line, Text&) { line.compile = true; }}},
      {"-fsycl-link", {Option::alone, [](Line& line, Text&) { line.link = true; }}},
      {"-MD", {Option::alone, [](Line& line, Text&) { line.depfile = true; }}},
      {"-MT", {Option::next_word, [](Line& line, Text& name) { line.depfile_target = name; }}},
      {"-###", {Option::alone, [](Line& line, Text&) { line.only_says = true; }}},
      {"-MF", {Option::next_word, [](Line& line, Text& name) { line.depfile_name = name; }}},
      {"-o", {Option::next_word, [](Line& line, Text& name) { line.output = name; }}},
      {"-x", {Option::next_word, [](Line&, Text&) {}}},
      // For ocloc: -Xs "-device pvc,dg2-g10".
      {"-Xs", {Option::next_word, [](Line& line, Text& words) { line.backend_options = split(words, ' '); }}},
      {"-fsycl-targets=", {Option::joined, [](Line& line, Text& list) { line.targets = split(list, ','); }}},
      {"-fsycl-host-compiler=", {Option::joined, [](Line& line, Text& name) { line.host_compiler = name; }}},
      {"-fsycl-host-compiler-options=",
       {Option::joined, [](Line& line, Text& words) { line.host_options = tokens(words); }}},
  };
  return table;
}

// Of the device compiler's options, those that take the next word.
bool takes_next_word(const std::string& word) {
  static const std::set<std::string> table = {"-I",       "-isystem", "-iquote", "-idirafter",
                                              "-include", "-D",       "-U"};
  return table.count(word) > 0;
}

const std::string& next_word(const Words& words, size_t& at) {
  if (at + 1 == words.size()) throw std::runtime_error("argument to '" + words[at] + "' is missing");
  return words[++at];
}

CommandLine read_command_line(const Words& words) {
  CommandLine line;
  for (size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals == std::string::npos ? equals : equals + 1);
    const auto option = options().find(name);
    if (option != options().end()) {
      const Option::Form form = option->second.form;
      option->second.take(line, form == Option::next_word ? next_word(words, at) : word.substr(name.size()));
    } else if (word[0] != '-') {
      line.inputs.push_back(word);
    } else {
      line.device_arguments.push_back(word);
      if (takes_next_word(word)) line.device_arguments.push_back(next_word(words, at));
    }
  }
  return line;
}

void check(const CommandLine& line) {
  if (!line.sycl || line.compile == line.link)
    throw std::runtime_error("this stand-in takes -fsycl with -c or -fsycl-link");
  if (line.output.empty()) throw std::runtime_error("no -o");
  if (line.inputs.empty()) throw std::runtime_error("no input files");
  if (line.compile && line.inputs.size() > 1)
    throw std::runtime_error("cannot specify -o when generating multiple output files");
  for (const std::string& target : line.targets)
    if (target != "spir64" && target != "spir64_gen")
      throw std::runtime_error("invalid target '" + target + "' in -fsycl-targets");
}

// ---- -c

// Sections of an object have these names until the device link.
std::string section_of(const std::string& target) {
  return "__CLANG_OFFLOAD_BUNDLE__sycl-" + target;
}

std::vector<DeviceImage> compile_for_device(const CommandLine& line, const std::string& header,
                                            const std::string& footer, const std::string& depfile) {
  Words arguments = line.device_arguments;
  arguments.insert(arguments.end(),
                   {"-MD", "-MF", depfile, "-fno-sycl-unnamed-lambda", "-Xclang",
                    "-fsycl-int-header=" + header, "-Xclang", "-fsycl-int-footer=" + footer});
  const Compilation compilation = compile_sycl(prefix() / "lib/libsycl-jit.so", line.inputs[0], arguments);
  std::cerr << compilation.log;
  if (!compilation.succeeded) throw std::runtime_error("sycl device compile failed");
  if (!read_file(footer).empty())
    throw std::runtime_error("this stand-in has no way for what needs an integration footer");
  return compilation.images;
}

// As icpx calls it, the options of the command line itself are not its: ConstructHostCompilerJob in
// clang/lib/Driver/ToolChains/Clang.cpp of DPC++'s sources.
void compile_for_host(const CommandLine& line, const std::string& header, const std::string& depfile,
                      const std::string& object, const std::string& work) {
  const std::filesystem::path include = prefix() / "include", source = line.inputs[0];
  Words words{line.host_compiler.empty() ? "g++" : line.host_compiler, source, "-c", "-include", header};
  words.insert(words.end(), {"-iquote", source.has_parent_path() ? source.parent_path().string() : "."});
  for (const std::filesystem::path& folder : {include / "sycl", include / "sycl/stl_wrappers", include})
    words.insert(words.end(), {"-isystem", folder});
  words.insert(words.end(), {"-o", object});
  words.insert(words.end(), line.host_options.begin(), line.host_options.end());
  words.insert(words.end(), {"-ffile-prefix-map=" + work + "=.", "-MD", "-MF", depfile});  // not icpx's
  run(words);
}

void compile(const CommandLine& line) {
  const WorkFolder work;
  const std::string header = work / "header.h", object = work / "host.o", packed = work / "images";
  write_file(work / "footer.h", "");
  write_file(packed, pack(compile_for_device(line, header, work / "footer.h", work / "device.d")));
  compile_for_host(line, header, work / "host.d", object, work / "");
  Words words{"objcopy"};
  for (const std::string& target : line.targets)
    words.insert(words.end(), {"--add-section", section_of(target) + "=" + packed, "--set-section-flags",
                               section_of(target) + "=readonly,exclude"});
  words.insert(words.end(), {object, line.output});
  run(words);
  if (!line.depfile) return;
  std::vector<std::string> files = files_of_depfile(read_file(work / "device.d"));
  for (const std::string& file : files_of_depfile(read_file(work / "host.d")))
    files.push_back(file);
  write_file(
      line.depfile_name.empty() ? line.output + ".d" : line.depfile_name,
      depfile_of(line.depfile_target.empty() ? line.output : line.depfile_target, files, prefix(), header));
}

// ---- -fsycl-link

std::vector<DeviceImage> images_of(const std::string& object, const std::string& target,
                                   const WorkFolder& work) {
  const std::string section = work / "section", copy = work / "copy";
  write_file(section, "");
  run({"objcopy", "--dump-section", section_of(target) + "=" + section, object, copy}, true);
  return unpack(read_file(section));
}

// Code for the devices, one image as icpx has it: an archive where there are several of them.
std::string compile_for_devices(const std::string& spirv, const Words& options, const WorkFolder& work) {
  const std::string input = work / "image.spv", output = work / "image.bin";
  write_file(input, spirv);
  Words words{prefix() / "bin/ocloc", "-file", input, "-spirv_input", "-output", output, "-output_no_suffix"};
  words.insert(words.end(), options.begin(), options.end());
  run(words, true);
  return read_file(output);
}

void link(const CommandLine& line) {
  const WorkFolder work;
  std::vector<LinkedImage> images;
  for (const std::string& target : line.targets) {
    for (const std::string& object : line.inputs) {
      for (DeviceImage& image : images_of(object, target, work)) {
        if (target == "spir64_gen")
          image.bytes = compile_for_devices(image.bytes, line.backend_options, work);
        const std::string file = work / ("image" + std::to_string(images.size()));
        write_file(file, image.bytes);
        images.push_back({std::move(image), target, file});
      }
    }
  }
  write_file(work / "images.s", registration(images));
  run({line.host_compiler.empty() ? "g++" : line.host_compiler, "-c", work / "images.s", "-o", line.output});
}

// -###: what it would start, and what it is made of.
void say_parts() {
  for (const char* part : {"lib/libsycl-jit.so", "bin/ocloc"})
    std::cerr << " \"" << (prefix() / part).string() << "\"\n";
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// @FILE stands for the words in it.
Words expanded(const Words& words) {
  Words all;
  for (const std::string& word : words) {
    Words of_word{word};
    if (word[0] == '@') of_word = tokens(one_line(read_file(word.substr(1))));
    all.insert(all.end(), of_word.begin(), of_word.end());
  }
  return all;
}

int main(const Words& words) {
  if (words == Words{"--version"}) {
    std::cout << "Intel(R) oneAPI DPC++/C++ Compiler " << k_version << " (stand-in of dsbuild's tests)\n"
              << "Target: x86_64-unknown-linux-gnu\nThread model: posix\n"
              << "InstalledDir: " << (prefix() / "bin").string() << '\n';
    return 0;
  }
  try {
    const CommandLine line = read_command_line(expanded(words));
    check(line);
    if (line.only_says) {
      say_parts();
    } else if (line.compile) {
      compile(line);
    } else {
      link(line);
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "icpx: error: " << error.what() << '\n';
    return 1;
  }
}

}  // namespace
}  // namespace icpx

int main(int count, char** words) {
  return icpx::main({words + 1, words + count});
}
