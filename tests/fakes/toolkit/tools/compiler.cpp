// A C++ compiler. fake.json beside it says how it behaves:
//
//   real    Path of a real compiler that does the work, whose output is then written in two halves with a
//           pause between them, so that a test can kill it there.
//   log     One JSON line per start with an output: {"argv", "cwd", "pid"}.
//   slow    {"name.o.tmp": seconds}: the pause for outputs of that name.
//
// Without `real` it preprocesses by itself and "compiles" to an object whose bytes depend on the text behind
// the preprocessor, the flags, and its parts: files cc1plus, as and ld beside it, unless they lie in a folder
// of COMPILER_PATH or behind GCC_EXEC_PREFIX. It looks for headers in the folder `include` beside it, last.
// Words of a file `specs`, in a folder of LIBRARY_PATH or beside it, are options. Sources say `// export:
// NAME`; asm("...") may define functions, and read files (.include, .incbin). It links by itself.
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "elf.h"
#include "preprocessor.h"
#include "tools.h"

namespace fake {
namespace {

constexpr const char* k_name = "g++";
const char* const k_version = "g++ (Fake) 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc.\n";

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == text.npos ? "" : text.substr(begin, end - begin + 1);
}

// What stands between the first two quotes.
std::string quoted_in(const std::string& line) {
  const size_t begin = line.find('"'), end = line.rfind('"');
  return begin == end ? "" : line.substr(begin + 1, end - begin - 1);
}

class Assembler {
 public:
  void take(const std::string& text) {
    for (const std::string& each : split(text, '\n'))
      take_line(trimmed(each));
  }

  Object object() const {
    Object made;
    for (const std::string& name : defined_)
      if (global_.count(name) > 0 && hidden_.count(name) == 0) made.symbols.push_back(name);
    made.data = data_;
    made.fatbin = fatbin_;
    return made;
  }

 private:
  void take_line(const std::string& line) {
    const Words words = split_blanks(line);
    if (words.empty()) return;
    if (words[0] == ".section")
      section_ = words[1].substr(0, words[1].find(','));
    else if (words[0] == ".text" || words[0] == ".data")
      section_ = words[0];
    else if (words[0] == ".globl")
      global_.insert(words[1]);
    else if (words[0] == ".hidden")
      hidden_.insert(words[1]);
    else if (words[0] == ".include")
      take(read(quoted_in(line), "as"));
    else if (words[0] == ".incbin")
      (section_ == ".nv_fatbin" ? fatbin_ : data_) += read(quoted_in(line), "as");
    else if (words[0] == ".ascii")
      data_ += quoted_in(line);
    else if (words[0].back() == ':' && section_ == ".text")
      defined_.push_back(words[0].substr(0, words[0].size() - 1));
    else if (section_ == ".data")
      data_ += line;
  }

  std::string section_ = ".text", data_, fatbin_;
  Words defined_;
  std::set<std::string> global_, hidden_;
};

// Of "asm(...);" with a string as JSON has it.
std::string assembly_in(const std::string& line) {
  std::string text;
  const std::string inside = quoted_in(line);
  for (size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] != '\\' || i + 1 == inside.size()) {
      text += inside[i];
      continue;
    }
    const char c = inside[++i];
    text += c == 'n' ? '\n' : c == 't' ? '\t' : c;
  }
  return text;
}

class Compiler {
 public:
  explicit Compiler(Words argv) : argv_(std::move(argv)), folder_(own_folder()) {}

  int run() {
    expand_files();
    take_specs();
    if (has(argv_, "-Wa,--help")) return 1;  // it tells nothing of what it reads
    if (has(argv_, "--version")) return fputs(k_version, stdout), 0;
    for (const std::string& word : argv_) {
      const std::string name = word.substr(std::min(word.find('=') + 1, word.size()));
      if (starts_with(word, "-print-prog-name=")) return answer(place_of(name));
      if (starts_with(word, "-print-file-name=")) return answer(name);
    }
    if (has(argv_, "-print-search-dirs"))
      return answer("install: " + folder_ + "/\nprograms: =" + listed(program_folders()) +
                    "\nlibraries: =" + listed(library_folders()));
    if (has(argv_, "-dumpmachine")) return answer("x86_64-linux-gnu");
    if (has(argv_, "-dumpversion")) return answer("12");
    if (has(argv_, "-Wl,--help")) return answer("  --dependency-file=FILE");
    if (has(argv_, "-v") || has(argv_, "-###")) show_parts();
    if (has(argv_, "-###") || argv_ == Words{"-v"}) return 0;
    parse();
    if (has(argv_, "-E")) return preprocess_source();
    if (has(argv_, "-c")) return compile();
    return link();
  }

 private:
  static int answer(const std::string& text) {
    puts(text.c_str());
    return 0;
  }

  Words own_folders() const { return {folder_ + "/include"}; }

  Words program_folders() const {
    Words folders;
    for (const std::string& folder : split(variable("COMPILER_PATH"), ':'))
      if (!folder.empty()) folders.push_back(folder);
    if (const std::string prefix = variable("GCC_EXEC_PREFIX"); !prefix.empty()) folders.push_back(prefix);
    folders.push_back(folder_);
    return folders;
  }

  Words library_folders() const {
    Words folders;
    for (const std::string& folder : split(variable("LIBRARY_PATH"), ':'))
      if (!folder.empty()) folders.push_back(folder);
    folders.push_back(folder_);
    return folders;
  }

  static std::string listed(const Words& folders) {
    std::string text;
    for (const std::string& folder : folders)
      text += (text.empty() ? "" : ":") + folder + "/";
    return text;
  }

  std::string place_of(const std::string& part) const {
    for (const std::string& folder : program_folders())
      if (is_file(folder + "/" + part)) return folder + "/" + part;
    return folder_ + "/" + part;
  }

  void take_specs() {
    for (const std::string& folder : library_folders()) {
      const std::string file = folder + "/specs";
      if (!is_file(file)) continue;
      if (has(argv_, "-v") || has(argv_, "-###")) fprintf(stderr, "Reading specs from %s\n", file.c_str());
      for (const std::string& word : split_blanks(read(file, k_name)))
        argv_.push_back(word);
      return;
    }
  }

  void show_parts() const {
    const Preprocessing job = preprocessing_of(argv_, own_folders());
    fprintf(stderr, "COLLECT_GCC=%s\n", program_invocation_name);
    fprintf(stderr, "COMPILER_PATH=%s\nLIBRARY_PATH=%s\n", listed(program_folders()).c_str(),
            listed(library_folders()).c_str());
    for (const char* part : {"cc1plus", "as", "ld"})
      fprintf(stderr, " %s %s\n", place_of(part).c_str(), joined(argv_).c_str());
    for (const std::string& folder : own_folders())
      if (!exists(folder)) fprintf(stderr, "ignoring nonexistent directory \"%s\"\n", folder.c_str());
    fputs("#include \"...\" search starts here:\n", stderr);
    for (const std::string& folder : job.quoted)
      fprintf(stderr, " %s\n", folder.c_str());
    fputs("#include <...> search starts here:\n", stderr);
    for (const Words& folders : {job.folders, job.system})
      for (const std::string& folder : folders)
        if (exists(folder)) fprintf(stderr, " %s\n", folder.c_str());
    fputs("End of search list.\n", stderr);
  }

  // @FILE stands for the words in it.
  void expand_files() {
    Words words;
    for (const std::string& word : argv_) {
      if (!starts_with(word, "@")) {
        words.push_back(word);
        continue;
      }
      for (std::string line : split(read(word.substr(1), k_name), '\n')) {
        if (line.size() > 1 && line.front() == '\'' && line.back() == '\'')
          line = line.substr(1, line.size() - 2);
        if (!line.empty()) words.push_back(line);
      }
    }
    argv_ = std::move(words);
  }

  void parse() {
    static const std::set<std::string> with_value = {
        "-o", "-MF", "-MT", "-MQ", "-x", "-I", "-isystem", "-iquote", "-D", "-include", "-L", "-idirafter"};
    static const Words of_places = {"-I", "-D",      "-U", "-L", "-M", "-f", "-Wl,--dependency-file",
                                    "-l", "-isystem"};
    for (size_t i = 0; i < argv_.size(); ++i) {
      if (with_value.count(argv_[i]) > 0) {
        ++i;
      } else if (!starts_with(argv_[i], "-") || argv_[i] == "-") {
        inputs_.push_back(argv_[i]);
      } else {
        bool is_of_place = argv_[i] == "-c" || argv_[i] == "-E" || argv_[i] == "-v";
        for (const std::string& beginning : of_places)
          is_of_place = is_of_place || starts_with(argv_[i], beginning);
        if (!is_of_place) flags_ += argv_[i] + "\n";
      }
    }
    if (inputs_.empty()) fail("g++: fatal error: no input files");
    output_ = value_of(argv_, "-o");
  }

  void write_depfile(const Words& read) const {
    const std::string file = value_of(argv_, "-MF");
    if (!file.empty()) write(file, depfile(value_of(argv_, "-MT"), read), k_name);
  }

  std::string part(const std::string& name) const { return name + read_or_empty(place_of(name)); }

  int preprocess_source() {
    Preprocessing job = preprocessing_of(argv_, own_folders());
    const std::string text = preprocess(inputs_[0] == "-" ? "/dev/stdin" : inputs_[0], job);
    write_depfile(job.read);
    if (output_.empty() || output_ == "-")
      fputs(text.c_str(), stdout);
    else
      write(output_, text, k_name);
    return 0;
  }

  int compile() {
    const std::string& source = inputs_[0];
    Assembler assembler;
    if (source.size() > 2 && source.compare(source.size() - 2, 2, ".s") == 0) {
      assembler.take(read(source, "as"));
      return finish(assembler.object(), part("as"));
    }
    Preprocessing job = preprocessing_of(argv_, own_folders());
    job.keeps_comments = job.takes_precompiled = true;
    const std::string text = preprocess(source, job);
    write_depfile(job.read);
    bool is_of_cudafe = false;
    for (const std::string& line : split(text, '\n')) {
      if (starts_with(line, "asm(")) assembler.take(assembly_in(line));
      if (starts_with(line, "// export: "))
        assembler.take(".text\n.globl " + line.substr(11) + "\n" + line.substr(11) + ": ret");
      is_of_cudafe = is_of_cudafe || line == "// cudafe++";
    }
    std::string seed = part("cc1plus") + part("as") + flags_ + own_mark();
    if (!is_of_cudafe) seed += code_of(text);
    for (const std::string& file : job.read)
      if (is_of_cudafe && file.find("/crt/") != file.npos) seed += read(file, "cc1plus");
    return finish(assembler.object(), seed);
  }

  int finish(Object object, const std::string& seed) const {
    if (object.fatbin.empty() || !object.symbols.empty()) object.data += hex_digest(seed);
    write(output_.empty() ? "a.o" : output_, make_object(object), k_name);
    return 0;
  }

  // "" for one that is not where it looks.
  std::string library(const std::string& name) const {
    Words folders;
    for (const std::string& word : argv_)
      if (starts_with(word, "-L")) folders.push_back(word.substr(2));
    for (const Words more = library_folders(); const std::string& folder : more)
      folders.push_back(folder);
    for (const std::string& folder : folders)
      for (const char* end : {".so", ".a"})
        if (std::string path = folder + "/lib" + name + end; is_file(path)) return path;
    return "";
  }

  // As GNU ld writes it, who quotes nothing.
  std::string link_depfile(const Words& read_files) const {
    std::string text = output_ + ":";
    for (const std::string& file : read_files)
      text += " \\\n  " + file;
    return text + "\n";
  }

  int link() {
    Object whole;
    std::string seed = part("ld") + flags_ + own_mark();
    Words read_files;
    for (const std::string& input : inputs_) {
      read_files.push_back(input);
      const Object object = read_object(input);
      whole.symbols.insert(whole.symbols.end(), object.symbols.begin(), object.symbols.end());
      whole.data += object.data;
      whole.fatbin += object.fatbin;
    }
    for (const std::string& word : argv_) {
      if (!starts_with(word, "-l")) continue;
      const std::string file = library(word.substr(2));
      seed += word + (file.empty() ? "" : read(file, "ld"));
      if (!file.empty()) read_files.push_back(file);
    }
    whole.data += hex_digest(seed);
    constexpr std::string_view k_depfile = "-Wl,--dependency-file";
    for (const std::string& word : argv_)
      if (starts_with(word, k_depfile))
        write(word.substr(k_depfile.size() + 1), link_depfile(read_files), "ld");
    write(output_.empty() ? "a.out" : output_, make_library(whole), "ld", 0755);
    return 0;
  }

  Words argv_, inputs_;
  const std::string folder_;
  std::string flags_, output_;
};

// The real one works; what it made is written in halves.
int run_slowly(const Settings& settings, const Words& argv) {
  const std::string real = settings.text("real"), output = value_of(argv, "-o");
  Words command = {real};
  command.insert(command.end(), argv.begin(), argv.end());
  const double pause = settings.entry("slow", file_name(output), 0);
  if (pause <= 0) become(command);
  const std::string whole = output + ".whole";
  for (size_t i = 0; i + 1 < command.size(); ++i)
    if (command[i] == "-o") command[i + 1] = whole;
  if (const int code = run(command); code != 0) return code;
  const std::string data = read(whole, k_name);
  struct stat status = {};
  stat(whole.c_str(), &status);
  unlink(whole.c_str());
  write_in_halves(output, data, pause, k_name, status.st_mode & 0777);
  return 0;
}

}  // namespace

int run_compiler(const Words& argv) {
  const Settings settings(own_folder() + "/fake.json");
  const std::string log = settings.text("log");
  if (!log.empty() && has(argv, "-o") && !has(argv, "-Wa,--help"))
    append_line(log, "{\"argv\": " + json(argv) + ", \"cwd\": " + json(current_folder()) +
                         ", \"pid\": " + std::to_string(getpid()) + "}\n");
  if (settings.text("real").empty()) return Compiler(argv).run();
  if (has(argv, "-o")) return run_slowly(settings, argv);
  Words command = {settings.text("real")};
  command.insert(command.end(), argv.begin(), argv.end());
  become(command);
}

}  // namespace fake
