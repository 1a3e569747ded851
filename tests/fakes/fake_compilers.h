// Compilers in memory, for FakeProcessRunner: each writes what its command line says, as a pure function of
// the bytes that it reads. C++ is lines; these words mean something:
//   #include, #pragma once, #warning, #error, #embed, #if __has_include("x") … #endif     to the preprocessor
//   __global__, __device__        a line of device code: `__global__ void NAME { BODY }`
//   warn_TOOL, fail_TOOL          anywhere in the line: cudafe, cicc, ptxas or gcc says so
//   .incbin "FILE"                the assembler reads the file
//   keeps_name                    ptxas writes the line into its code
#pragma once

#include <map>
#include <set>
#include <sstream>

#include "base/digest.h"
#include "fakes/fake_file_system.h"
#include "fakes/fake_process_runner.h"
#include "support/sample_bytes.h"

namespace dsbuild {

using Args = std::vector<std::string>;

// The word after an option, or joined to it.
inline std::string argument(const Args& argv, const std::string& option) {
  for (size_t i = 0; i < argv.size(); ++i) {
    if (argv[i] == option && i + 1 < argv.size()) return argv[i + 1];
    if (argv[i].starts_with(option) && option.ends_with('=')) return argv[i].substr(option.size());
  }
  return "";
}

inline bool has_argument(const Args& argv, const std::string& word) {
  return std::find(argv.begin(), argv.end(), word) != argv.end();
}

inline std::string in_quotes(const std::string& line, const std::string& after = "") {
  const size_t first = line.find_first_of("\"<", line.find(after)),
               second = line.find_first_of("\">", first + 1);
  return second == std::string::npos ? "" : line.substr(first + 1, second - first - 1);
}

// A line of preprocessed text, and where it is of.
struct PlacedLine {
  std::string file, text;
  size_t number = 0;
};

inline std::vector<PlacedLine> placed_lines(const std::string& text) {
  std::vector<PlacedLine> lines;
  std::string file;
  size_t number = 0;
  for (const std::string& line : split_lines(text)) {
    if (line.starts_with("# ")) {
      number = std::stoul(line.substr(2));
      file = in_quotes(line);
      continue;
    }
    if (!trim(line).empty()) lines.push_back({file, line, number});
    ++number;
  }
  return lines;
}

class FakePreprocessor {
 public:
  FakePreprocessor(const FakeFileSystem& files, const Command& command) : files_(files), command_(command) {
    const Args& argv = command.argv;
    keeps_comments_ = has_argument(argv, "-C");
    for (size_t i = 0; i < argv.size(); ++i) {
      if (argv[i] == "-isystem" && i + 1 < argv.size()) system_folders_.push_back(argv[i + 1]);
      if (argv[i].starts_with("-I")) folders_.push_back(argv[i].substr(2));
      if (argv[i].starts_with("-D")) define(argv[i].substr(2));
    }
    if (const std::string header = argument(argv, "-include"); !header.empty()) include_by_force(header);
  }

  void run(const std::string& source) { emit(source, ""); }

  std::string text, said;
  std::vector<std::string> read;
  bool has_failed = false;

 private:
  Path at(const std::string& path) const { return command_.cwd / path; }
  bool is_file(const std::string& path) const { return files_.kind(at(path)) == FileKind::file; }

  void define(const std::string& macro) {
    const size_t equals = macro.find('=');
    const std::string name = macro.substr(0, equals);
    const std::string value = equals == std::string::npos ? "1" : macro.substr(equals + 1);
    macros_.emplace_back(name, name == "__CUDA_ARCH_LIST__" ? replace_all(value, ",", "_") : value);
  }

  // A precompiled header next to it is taken, and its own depfile is not ours.
  void include_by_force(const std::string& header) {
    if (const std::string made = files_.bytes(at(header + ".gch")); !made.empty()) {
      text += "# 1 \"./" + header + "\" 1\n" + made;
      read.push_back(header + ".gch");
    } else if (const std::string found = find(header, ""); !found.empty()) {
      emit(found, " 1");
    }
  }

  std::string find(const std::string& name, const std::string& beside) const {
    std::vector<std::string> folders = folders_;
    if (!beside.empty()) folders.insert(folders.begin(), beside);
    folders.insert(folders.end(), system_folders_.begin(), system_folders_.end());
    if (is_file(name)) folders.push_back("");
    for (const std::string& folder : folders) {
      const std::string path = folder.empty() ? name : folder + "/" + name;
      if (is_file(path)) return path;
    }
    return "";
  }

  void emit(const std::string& path, const std::string& flags) {
    const std::string content = files_.bytes(at(path));
    if (content.find("#pragma once") != std::string::npos && !once_.insert(path).second) return;
    if (std::find(read.begin(), read.end(), path) == read.end()) read.push_back(path);
    text += "# 1 \"" + path + "\"" + flags + "\n";
    size_t number = 0;
    bool is_skipped = false;
    for (const std::string& line : split_lines(content)) {
      ++number;
      if (line.starts_with("#if")) is_skipped = find(in_quotes(line), Path(path).parent_path()).empty();
      if (line.starts_with("#endif")) is_skipped = false;
      if (is_skipped || line.starts_with("#if") || line.starts_with("#endif") || line.starts_with("#pragma"))
        text += "\n";
      else if (line.starts_with("#include"))
        include(path, number, line);
      else
        emit_line(path, number, line);
    }
  }

  void include(const std::string& path, size_t number, const std::string& line) {
    const bool is_quoted = line.find('"') != std::string::npos;
    const std::string name = in_quotes(line);
    const std::string found = find(name, is_quoted ? Path(path).parent_path().string() : "");
    if (found.empty()) return fail_at(path, number, name + ": No such file or directory");
    emit(found, " 1");
    text += "# " + std::to_string(number + 1) + " \"" + path + "\" 2\n";
  }

  void emit_line(const std::string& path, size_t number, std::string line) {
    if (line.starts_with("#error")) return fail_at(path, number, line);
    if (line.starts_with("#warning")) {
      said += path + ":" + std::to_string(number) + ":2: warning: " + line + "\n";
      line.clear();
    }
    if (line.starts_with("#embed")) line = "embedded " + sha256(files_.bytes(at(in_quotes(line))));
    if (!keeps_comments_) line = without_comment(line);
    for (const auto& [name, value] : macros_)
      line = replace_all(line, name, value);
    text += line + "\n";
  }

  static std::string without_comment(const std::string& line) {
    const std::string code = line.substr(0, line.find("//"));
    return code.substr(0, code.find_last_not_of(' ') + 1);
  }

  void fail_at(const std::string& path, size_t number, const std::string& what) {
    said += path + ":" + std::to_string(number) + ":2: error: " + what + "\n";
    has_failed = true;
  }

  const FakeFileSystem& files_;
  const Command& command_;
  bool keeps_comments_ = false;
  std::vector<std::string> folders_, system_folders_;
  std::vector<std::pair<std::string, std::string>> macros_;
  std::set<std::string> once_;
};

class FakeCompilers {
 public:
  FakeCompilers(FakeFileSystem& files, FakeProcessRunner& processes) : files_(files) {
    add(processes, "g++", &FakeCompilers::gcc);
    add(processes, "cudafe++", &FakeCompilers::cudafe);
    add(processes, "cicc", &FakeCompilers::cicc);
    add(processes, "ptxas", &FakeCompilers::ptxas);
    add(processes, "fatbinary", &FakeCompilers::fatbinary);
    add(processes, "nvcc", &FakeCompilers::link);
    add(processes, "icpx", &FakeCompilers::link);
    add(processes, "clang++", &FakeCompilers::gcc);
    add(processes, "python3", &FakeCompilers::hipify);
  }

  // What a command is, for tests: cpp, g++ (a compile), as, ld, nvcc, cicc …
  static std::string name_of(const Command& command) {
    const std::string program = Path(command.argv.front()).filename().string();
    if (program != "g++" && program != "gcc") return program;
    if (has_argument(command.argv, "-E")) return "cpp";
    if (!has_argument(command.argv, "-c")) return "ld";
    return argument(command.argv, "-c").ends_with(".s") ? "as" : "g++";
  }

  // By a tool's name: called before it does anything, and after it has written.
  std::map<std::string, std::function<void()>> before, after;
  // These say what is wrong and end with 2, and leave half of an output.
  std::set<std::string> failing;

 private:
  using Tool = ProcessResult (FakeCompilers::*)(const Command&);

  void add(FakeProcessRunner& processes, const std::string& program, Tool tool) {
    processes.on({program}, [this, tool](const Command& command) {
      const std::string name = name_of(command);
      if (const auto hook = before.find(name); hook != before.end()) hook->second();
      if (failing.count(name) > 0) return fails(name, command);
      ProcessResult result = (this->*tool)(command);
      if (const auto hook = after.find(name); hook != after.end()) hook->second();
      return result;
    });
  }

  ProcessResult fails(const std::string& name, const Command& command) {
    if (const std::string output = argument(command.argv, "-o"); !output.empty())
      write(command, output, "half");
    return FakeProcessRunner::failed("pack/a.cu(1): error: " + name + " does not like it\n", 2);
  }

  std::string read(const Command& command, const std::string& path) const {
    return files_.bytes(command.cwd / path);
  }
  void write(const Command& command, const std::string& path, const std::string& bytes) {
    files_.add_file(command.cwd / path, bytes);
  }

  // What a tool says of lines that name it.
  struct Verdict {
    std::string said;
    bool has_failed = false;
  };
  static Verdict judge(const std::string& tool, const std::string& text) {
    Verdict verdict;
    for (const PlacedLine& line : placed_lines(text)) {
      const std::string place = line.file + "(" + std::to_string(line.number) + "): ";
      if (line.text.find("warn_" + tool) != std::string::npos)
        verdict.said += place + "warning #1: " + trim(line.text) + "\n";
      if (line.text.find("fail_" + tool) != std::string::npos) {
        verdict.said += place + "error: " + trim(line.text) + "\n";
        verdict.has_failed = true;
      }
    }
    return verdict;
  }

  static bool is_device_code(const std::string& line) {
    return line.find("__global__") != std::string::npos || line.find("__device__") != std::string::npos;
  }

  ProcessResult gcc(const Command& command) {
    const Args& argv = command.argv;
    if (has_argument(argv, "-E")) return preprocess(command);
    if (!has_argument(argv, "-c")) return link(command);
    return argument(argv, "-c").ends_with(".s") ? assemble(command) : compile(command);
  }

  void write_depfile(const Command& command, const std::vector<std::string>& files) {
    std::string depfile = argument(command.argv, "-MF");
    if (depfile.empty()) return;
    std::string text = argument(command.argv, "-MT") + ":";
    for (const std::string& file : files)
      text += " " + file;
    write(command, depfile, text + "\n");
  }

  // The source is the last word that is no option and no option's value.
  static std::string source_of(const Args& argv) {
    if (const std::string named = argument(argv, "-c"); !named.empty() && !named.starts_with('-'))
      return named;
    for (size_t i = argv.size(); i-- > 1;)
      if (!argv[i].starts_with('-') &&
          !has_argument({"-o", "-MF", "-MT", "-isystem", "-include", "-x", "-Xassembler"}, argv[i - 1]))
        return argv[i];
    return "";
  }

  ProcessResult preprocess(const Command& command) {
    FakePreprocessor preprocessor(files_, command);
    std::string source = argument(command.argv, "-E");
    if (source.starts_with('-')) source = source_of(command.argv);
    preprocessor.run(source);
    if (preprocessor.has_failed) return FakeProcessRunner::failed(preprocessor.said, 1);
    write_depfile(command, preprocessor.read);
    const std::string output = argument(command.argv, "-o");
    if (output.empty()) return FakeProcessRunner::succeeded(preprocessor.text, preprocessor.said);
    write(command, output, preprocessor.text);
    return FakeProcessRunner::succeeded("", preprocessor.said);
  }

  // Its object is the code without positions; with -g also where the compiler ran.
  ProcessResult compile(const Command& command) {
    FakePreprocessor preprocessor(files_, command);
    preprocessor.run(source_of(command.argv));
    const Verdict verdict = judge("gcc", preprocessor.text);
    if (preprocessor.has_failed || verdict.has_failed)
      return FakeProcessRunner::failed(preprocessor.said + verdict.said, 1);
    write_depfile(command, preprocessor.read);
    std::string object;
    if (has_argument(command.argv, "-x") && argument(command.argv, "-x") == "c++-header")
      object = preprocessor.text;
    else
      object = object_of(command, preprocessor.text);
    write(command, argument(command.argv, "-o"), object);
    return FakeProcessRunner::succeeded("", preprocessor.said + verdict.said);
  }

  std::string object_of(const Command& command, const std::string& text) {
    std::string object = "object\n", of_assembler;
    for (const PlacedLine& line : placed_lines(text)) {
      object += line.text + "\n";
      if (line.text.find(".incbin") == std::string::npos) continue;
      const std::string file = in_quotes(line.text, ".incbin");
      object += "bytes " + sha256(read(command, file)) + "\n";
      of_assembler += " " + file;
    }
    const auto md = std::find(command.argv.begin(), command.argv.end(), "--MD");
    if (md != command.argv.end()) write(command, *(md + 2), "object:" + of_assembler + "\n");
    return object;
  }

  ProcessResult assemble(const Command& command) {
    const std::string text = read(command, argument(command.argv, "-c"));
    std::string object = "assembled\n" + text;
    for (const std::string& line : split_lines(text))
      if (line.starts_with(".incbin")) object += "bytes " + read(command, in_quotes(line)) + "\n";
    write(command, argument(command.argv, "-o"), object);
    return FakeProcessRunner::succeeded("");
  }

  // Also nvcc -dlink and icpx -fsycl-link: what is made is what is read.
  ProcessResult link(const Command& command) {
    const Args& argv = command.argv;
    std::vector<std::string> files;
    for (size_t i = 1; i < argv.size(); ++i) {
      if (argv[i].starts_with("@"))
        for (const std::string& file : shell_split(read(command, argv[i].substr(1))))
          files.push_back(file);
      if (argv[i].ends_with(".o")) files.push_back(argv[i]);
      if (argv[i].starts_with("-l")) files.push_back(library(command, argv[i].substr(2)));
    }
    std::string bytes = Path(argv.front()).filename().string() + " of\n";
    std::string depfile = argument(argv, "-o") + ":";
    for (const std::string& file : files) {
      bytes += file + " " + read(command, file) + "\n";
      depfile += " \\\n  " + file;
    }
    if (const std::string file = argument(argv, "-Wl,--dependency-file="); !file.empty())
      write(command, file, depfile + "\n");
    write(command, argument(argv, "-o"), bytes);
    return FakeProcessRunner::succeeded("", has_argument(argv, "-warn") ? "the link warns\n" : "");
  }

  std::string library(const Command& command, const std::string& name) const {
    for (const std::string& word : command.argv)
      if (word.starts_with("-L") && files_.exists(word.substr(2) + "/lib" + name + ".a"))
        return word.substr(2) + "/lib" + name + ".a";
    return "";
  }

  // Kernels between `#if 0` and `#endif`, the rest as it is.
  ProcessResult cudafe(const Command& command) {
    const Args& argv = command.argv;
    const std::string text = read(command, argv.back());
    const Verdict verdict = judge("cudafe", text);
    if (verdict.has_failed) return FakeProcessRunner::failed(verdict.said, 2);
    std::string host;
    for (const PlacedLine& line : placed_lines(text)) {
      host += "# " + std::to_string(line.number) + " \"" + line.file + "\"\n";
      host += is_device_code(line.text) ? "#if 0\n" + line.text + "\n#endif\n" : line.text + "\n";
    }
    host += "// module " + read(command, argument(argv, "--module_id_file_name")) + "\n#include \"" +
            argument(argv, "--stub_file_name") + "\"\n";
    write(command, argument(argv, "--gen_c_file_name"), host);
    return FakeProcessRunner::succeeded(verdict.said);
  }

  // A string is numbers in PTX.
  static std::string with_strings_as_numbers(const std::string& line) {
    const std::string string = in_quotes(line);
    if (string.empty()) return line;
    std::string numbers;
    for (const char c : string)
      numbers += (numbers.empty() ? "" : ", ") + std::to_string(static_cast<int>(c));
    return replace_all(line, "\"" + string + "\"", "{" + numbers + "}");
  }

  // "_ZN1a1bEv" of "void a::b()".
  static std::string mangled_name_in(const std::string& line) {
    const size_t colons = line.find("::"), end = line.find("()", colons);
    if (end == std::string::npos) return "";
    const size_t begin = line.rfind(' ', colons) + 1;
    const std::string outer = line.substr(begin, colons - begin),
                      inner = line.substr(colons + 2, end - colons - 2);
    return "_ZN" + std::to_string(outer.size()) + outer + std::to_string(inner.size()) + inner + "Ev";
  }

  ProcessResult cicc(const Command& command) {
    const Args& argv = command.argv;
    std::string input;
    for (const std::string& word : argv)
      if (word.ends_with(".ii")) input = word;
    const std::string text = read(command, input);
    const Verdict verdict = judge("cicc", text);
    if (verdict.has_failed) return FakeProcessRunner::failed(verdict.said, 2);
    std::string ptx = ".target " + argument(argv, "-arch") + "\n", kernels;
    const bool has_lines = has_argument(argv, "-generate-line-info");
    for (const PlacedLine& line : placed_lines(text)) {
      if (!is_device_code(line.text)) continue;
      if (has_lines)
        ptx += ".file 1 \"" + line.file + "\"\n.loc 1 " + std::to_string(line.number) + " " +
               std::to_string(line.text.find('{')) + "\n";
      ptx += with_strings_as_numbers(trim(line.text)) + "\n";
      if (const std::string name = mangled_name_in(line.text); !name.empty()) ptx += ".entry " + name + "\n";
      if (line.text.find("__global__") != std::string::npos)
        kernels += "registers " + trim(line.text.substr(0, line.text.find('{'))) + "\n";
    }
    ptx += "// module " + read(command, argument(argv, "--module_id_file_name")) + "\n";
    const std::string stub = argument(argv, "--stub_file_name");
    write(command, stub,
          "// " + stub + "\n#include \"" + argument(argv, "--include_file_name") + "\"\n" + kernels);
    write(command, argument(argv, "-o"), ptx);
    return FakeProcessRunner::succeeded(verdict.said);
  }

  // Mangled names are symbols; code is the digest of what is in braces.
  ProcessResult ptxas(const Command& command) {
    std::string input;
    for (const std::string& word : command.argv)
      if (word.ends_with(".ptx")) input = word;
    const std::string ptx = read(command, input);
    std::string said, code = argument(command.argv, "-arch=") + "\n";
    std::vector<samples::Symbol> symbols;
    for (const std::string& line : split_lines(ptx)) {
      if (line.find("fail_ptxas") != std::string::npos)
        return FakeProcessRunner::failed("ptxas fatal : " + line + "\n", 255);
      if (line.find("warn_ptxas") != std::string::npos) said += "ptxas warning : " + line + "\n";
      const size_t brace = line.find(" {");
      if (line.find("keeps_name") != std::string::npos) code += line;  // a name where no symbol is
      code += (brace == std::string::npos ? "" : line.substr(brace)) + "\n";
      if (line.starts_with(".entry ")) symbols.push_back({.name = line.substr(7)});
    }
    std::vector<samples::Section> sections = samples::symbol_sections(symbols, 1, false);
    sections.push_back(
        {".text", 1, code.find("keeps_name") == std::string::npos ? sha256(code) : samples::padded(code, 8)});
    if (const std::string output = argument(command.argv, "-o"); !output.empty())
      write(command, output, samples::elf(sections, {.type = 2, .machine = 190}));
    return FakeProcessRunner::succeeded(said);
  }

  ProcessResult fatbinary(const Command& command) {
    std::string bytes = "fatbin\n";
    for (const std::string& word : command.argv)
      if (const size_t file = word.find(",file="); file != std::string::npos)
        bytes += word + " " + sha256(read(command, word.substr(file + 6))) + "\n";
    write(command, argument(command.argv, "--create="), bytes);
    return FakeProcessRunner::succeeded("");
  }

  // -I -c SCRIPT PACKAGE FOLDER [INCLUDE FOLDER…] -- SOURCE…
  ProcessResult hipify(const Command& command) {
    const std::string folder = command.argv.at(5) + "/";
    std::string answer;
    for (auto word = std::find(command.argv.begin(), command.argv.end(), "--") + 1; word < command.argv.end();
         ++word) {
      const std::string made = Path(*word).replace_extension(".hip").string();
      if (read(command, folder + *word).find("fail_hipify") != std::string::npos)
        return FakeProcessRunner::failed("InputError: " + *word + "\n");
      write(command, folder + made, "HIP of " + read(command, folder + *word));
      answer += *word + "\t" + made + "\n";
    }
    return FakeProcessRunner::succeeded(answer);
  }

  FakeFileSystem& files_;
};

}  // namespace dsbuild
