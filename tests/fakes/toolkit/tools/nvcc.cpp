// A fake nvcc: answers as one CUDA version does and "compiles" to an object that is a real ELF file with real
// fatbin headers. fake.json in the toolkit's folder says how it behaves:
//
//   steps    Its dry run shows steps that dsbuild can slice, and they make what it makes itself.
//            Without, the dry run has one step that nobody knows.
//   text     What is made depends on all that was read: the host's code, the toolkit's headers,
//            nvcc.profile, libdevice, marks of the programs, NVCC_APPEND_FLAGS.
//            Needs `steps` and the made up C++ compiler.
//   apart    Whole commands make other images than the steps.
//   log      One JSON line per start of a compilation, by steps of cicc:
//            {"argv", "source", "cwd", "pid", "append"}.
//   sleep    Seconds a compilation takes, half of them with its output half written.
//   slow     {"name.o.tmp": seconds}: how long outputs of that name stay half written instead.
//   inner    Whole seconds that a tool of its own takes before that: a compiler's driver waits for the
//            compiler.
//   payload  Bytes of each device image.
//   fail     Sources that do not compile.
//   mute     Its dry run fails.
//
// What a source can say: `// export: NAME` makes the object define the function NAME. The images' bytes
// depend on the source, on the headers that it includes, on its defines and on the target; with `steps` on
// the text that the preprocessor makes of them.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "elf.h"
#include "preprocessor.h"
#include "tools.h"

namespace fake {
namespace {

using Pair = std::pair<std::string, std::string>;  // "compute_80", "sm_80"

struct Job {
  std::string source, output, depfile, target, compiler = "g++";
  std::vector<Pair> pairs;
  std::set<std::string> archs, defines;
};

std::string absolute(const std::string& path) {
  return starts_with(path, "/") ? path : current_folder() + "/" + path;
}

std::string home_of(const std::string& program) {
  return folder_of(folder_of(absolute(program)));
}

std::string digits_of(const std::string& target) {
  std::string digits;
  for (const char c : target)
    if (c >= '0' && c <= '9') digits += c;
  return digits;
}

class Tool {
 public:
  Tool(std::string name, const std::string& program, Words argv)
      : name_(std::move(name)),
        home_(home_of(program)),
        argv_(std::move(argv)),
        settings_(home_ + "/fake.json") {}

 protected:
  bool reads_all() const { return settings_.is_on("text"); }
  std::string program(const std::string& name) const { return home_ + "/bin/" + name; }
  std::string mark(const std::string& name) const { return reads_all() ? mark_of(program(name)) : ""; }
  size_t payload() const { return static_cast<size_t>(settings_.number("payload", 256)); }

  void log_start(const std::string& source) const {
    const std::string log = settings_.text("log");
    if (log.empty()) return;
    append_line(log, "{\"argv\": " + json(argv_) + ", \"source\": " + json(source) +
                         ", \"cwd\": " + json(current_folder()) + ", \"pid\": " + std::to_string(getpid()) +
                         ", \"append\": " + json(variable("NVCC_APPEND_FLAGS")) + "}\n");
  }

  bool fails(const std::string& source) const {
    if (!has(settings_.list("fail"), file_name(source))) return false;
    fprintf(stderr, "%s(3): error: identifier \"undefined_name\" is undefined\n", source.c_str());
    return true;
  }

  std::string ptx_of(const std::string& text, const std::string& arch) const {
    const std::string library = reads_all() ? read_or_empty(home_ + "/nvvm/libdevice/libdevice.10.bc") : "";
    return noise(arch + code_of(text) + mark("cicc") + library, payload());
  }

  std::string cubin_of(const std::string& ptx, const std::string& code) const {
    return "\x7f"
           "ELF" +
           noise(code + ptx + mark("ptxas"), payload()).substr(4);
  }

  static Words exported(const std::string& text) {
    constexpr std::string_view k_mark = "// export: ";
    Words names;
    for (const std::string& line : split(text, '\n'))
      if (starts_with(line, k_mark)) names.push_back(line.substr(k_mark.size()));
    return names;
  }

  // C++ that makes an object with these functions.
  std::string host_code(const std::string& text, const std::string& stub) const {
    std::string code;
    const auto add = [&](const std::string& line) { code += "asm(" + json(line + "\n") + ");\n"; };
    add(".text");
    for (const std::string& name : exported(text))
      for (const std::string& line : {".globl " + name, ".type " + name + ",@function", name + ": ret",
                                      ".size " + name + ", .-" + name})
        add(line);
    if (reads_all()) {
      add(".section .rodata,\"a\"");
      add(".ascii \"" + hex_digest(code_of(text) + mark("cudafe++")) + "\"");
      code += "// cudafe++\n";
    }
    return code + "\n#include \"" + stub + "\"\n";
  }

  std::string stub_code() const {
    const bool has_runtime = reads_all() && exists(home_ + "/include/crt/host_runtime.h");
    return std::string("// kernels would be registered here\n") +
           (has_runtime ? "#include \"crt/host_runtime.h\"\n" : "");
  }

  const std::string name_, home_;
  Words argv_;
  const Settings settings_;
};

class Step : public Tool {
 public:
  using Tool::Tool;

  int run() {
    if (name_ == "cudafe++") return run_cudafe();
    if (name_ == "cicc") return run_cicc();
    return name_ == "ptxas" ? run_ptxas() : run_fatbinary();
  }

 private:
  int run_cudafe() {
    const std::string output = value_of(argv_, "--gen_c_file_name");
    const std::string code = host_code(read(argv_.back(), name_), value_of(argv_, "--stub_file_name"));
    write_in_halves(output, code, settings_.entry("slow", file_name(output), 0), name_);
    return 0;
  }

  static std::string first_file(const std::string& text) {
    for (const std::string& line : split(text, '\n')) {
      const size_t quote = line.find('"');
      if (starts_with(line, "# ") && quote != line.npos && line[quote + 1] != '<')
        return line.substr(quote + 1, line.find('"', quote + 1) - quote - 1);
    }
    return "";
  }

  int run_cicc() {
    size_t at = 0;
    while (at < argv_.size() && argv_[at] != "-o")
      ++at;
    const std::string text = read(argv_.at(at - 1), name_), source = first_file(text),
                      output = argv_.at(at + 1);
    log_start(source);
    if (fails(source)) return 2;
    write(value_of(argv_, "--stub_file_name"), stub_code(), name_);
    const double pause = settings_.number("sleep", 0) / 2;
    wait_for(pause);
    write_in_halves(output, ptx_of(text, value_of(argv_, "-arch")),
                    settings_.entry("slow", file_name(output), pause), name_);
    return 0;
  }

  int run_ptxas() {
    const std::string output = value_of(argv_, "-o"), code = argv_.at(0).substr(std::string("-arch=").size());
    write_in_halves(output, cubin_of(read(argv_.at(1), name_), code),
                    settings_.entry("slow", file_name(output), 0), name_);
    return 0;
  }

  int run_fatbinary() {
    constexpr std::string_view k_kind = "--image3=kind=", k_number = ",sm=", k_file = ",file=";
    std::vector<Image> images;
    for (const std::string& word : argv_) {
      if (!starts_with(word, k_kind)) continue;
      const size_t number = word.find(k_number), file = word.find(k_file);
      const bool is_elf = word.substr(k_kind.size(), number - k_kind.size()) == "elf";
      images.push_back({(is_elf ? "sm_" : "compute_") +
                            word.substr(number + k_number.size(), file - number - k_number.size()),
                        read(word.substr(file + k_file.size()), name_)});
    }
    const std::string output = argv_.at(0).substr(std::string("--create=").size());
    write_in_halves(output, make_fatbin(images), settings_.entry("slow", file_name(output), 0), name_);
    return 0;
  }
};

class Nvcc : public Tool {
 public:
  using Tool::Tool;

  int run() {
    if (argv_ == Words{"--version"}) return answer("version.txt");
    if (argv_ == Words{"--help"}) return answer("help.txt");
    add_flags();
    parse();
    if (!has(argv_, "--dryrun")) return compile();
    if (settings_.is_on("mute")) fail("nvcc fatal   : Memory allocation failure");
    return show_steps();
  }

 private:
  int answer(const std::string& file) const {
    fputs(read(home_ + "/" + file, name_).c_str(), stdout);
    return 0;
  }

  // Those of the environment and of nvcc.profile that the preprocessor gets.
  void add_flags() {
    if (!reads_all()) return;
    for (const std::string& word : split_blanks(variable("NVCC_APPEND_FLAGS")))
      if (starts_with(word, "-D") || starts_with(word, "-Xcompiler=")) argv_.push_back(word);
    for (const std::string& line : split(read_or_empty(home_ + "/bin/nvcc.profile"), '\n'))
      if (starts_with(line, "INCLUDES += "))
        for (std::string word : split_blanks(line.substr(line.find("+= ") + 3))) {
          if (starts_with(word, "-I$(TOP)"))
            word = "-I" + home_ + word.substr(std::string("-I$(TOP)").size());
          argv_.push_back(word);
        }
  }

  void parse() {
    constexpr std::string_view k_pair = "-gencode=arch=", k_code = ",code=";
    for (size_t i = 0; i < argv_.size(); ++i) {
      const std::string& word = argv_[i];
      const auto next = [&] { return i + 1 < argv_.size() ? argv_[++i] : ""; };
      if (word == "-o") {
        job_.output = next();
      } else if (word == "-MF") {
        job_.depfile = next();
      } else if (word == "-MT") {
        job_.target = next();
      } else if (word == "-ccbin") {
        job_.compiler = next();
      } else if (word == "-c") {
        job_.source = next();
      } else if (starts_with(word, "-D")) {
        job_.defines.insert(word);
      } else if (starts_with(word, k_pair)) {
        const size_t code = word.find(k_code);
        job_.pairs.emplace_back(word.substr(k_pair.size(), code - k_pair.size()),
                                word.substr(code + k_code.size()));
        job_.archs.insert(job_.pairs.back().first);
      }
    }
    if (!job_.pairs.empty()) return;
    job_.pairs.emplace_back("compute_75", "sm_75");
    job_.archs.insert("compute_75");
  }

  // Those that the host's compiler gets.
  Words host_flags() const {
    Words flags;
    for (size_t i = 0; i < argv_.size(); ++i) {
      const std::string& word = argv_[i];
      if (word == "-isystem" && i + 1 < argv_.size()) {
        flags.insert(flags.end(), {word, argv_[++i]});
      } else if (starts_with(word, "-Xcompiler=")) {
        for (const std::string& flag : split(word.substr(word.find('=') + 1), ','))
          flags.push_back(flag);
      } else if (starts_with(word, "-I") || starts_with(word, "-D") || starts_with(word, "-U") ||
                 starts_with(word, "-std=") ||
                 (starts_with(word, "-O") && word.size() > 2 && word[2] >= '0' && word[2] <= '9')) {
        flags.push_back(word);
      }
    }
    return flags;
  }

  // Comments are kept, for they say what is exported.
  Words preprocess_command(const std::string& arch) const {
    std::set<int> numbers;
    std::string list;
    for (const auto& [virtual_arch, code] : job_.pairs)
      numbers.insert(atoi(digits_of(virtual_arch).c_str()));
    for (const int number : numbers)
      list += (list.empty() ? "" : ",") + std::to_string(number) + "0";
    Words words = {job_.compiler};
    if (!arch.empty()) words.push_back("-D__CUDA_ARCH__=" + digits_of(arch) + "0");
    words.insert(words.end(), {"-D__CUDA_ARCH_LIST__=" + list, "-E", "-C", "-x", "c++"});
    for (const std::string& flag : host_flags())
      words.push_back(flag);
    words.insert(words.end(), {job_.source, "-o"});
    return words;
  }

  static std::string device_file(const std::string& unit, const Pair& pair) {
    return unit + "." + pair.first + "." + (pair.first == pair.second ? "ptx" : pair.second + ".cubin");
  }

  void show(const Words& words) const { fprintf(stderr, "#$ %s\n", joined(words).c_str()); }

  void show_preprocessing(const std::string& arch, const std::string& output) const {
    Words words = preprocess_command(arch);
    words.push_back(output);
    show(words);
  }

  void show_variables() const {
    const std::string here = home_ + "/bin", top = here + "/..";
    for (const std::string& line :
         {"_HERE_=" + here, "TOP=" + top, "NVVMIR_LIBRARY_DIR=" + top + "/nvvm/libdevice",
          "PATH=" + variable("PATH"), "INCLUDES=\"-I" + top + "/include\"  "})
      fprintf(stderr, "#$ %s\n", line.c_str());
  }

  int show_steps() const {
    show_variables();
    if (!settings_.is_on("steps")) {
      fputs("#$ fake-nvcc --all-at-once\n", stderr);
      return 0;
    }
    const std::string unit = stem_of(file_name(job_.output));
    const std::string host = unit + "." + *job_.archs.begin() + ".cudafe1";
    show_preprocessing("", unit + ".cpp4.ii");
    Words front = {program("cudafe++")};
    if (reads_all()) front.push_back("--gnu_version=120200");
    front.insert(front.end(), {"--gen_c_file_name", host + ".cpp", "--stub_file_name", host + ".stub.c",
                               unit + ".cpp4.ii"});
    show(front);
    for (const std::string& arch : job_.archs)
      show_device(unit, arch);
    Words join = {program("fatbinary"), "--create=" + unit + ".fatbin"};
    for (const Pair& pair : job_.pairs)
      join.push_back("--image3=kind=" + std::string(pair.first == pair.second ? "ptx" : "elf") + ",sm=" +
                     pair.second.substr(pair.second.find('_') + 1) + ",file=" + device_file(unit, pair));
    join.push_back("--embedded-fatbin=" + unit + ".fatbin.c");
    show(join);
    Words compile = {job_.compiler, "-c", "-x", "c++"};
    for (const std::string& flag : host_flags())
      compile.push_back(flag);
    compile.insert(compile.end(), {host + ".cpp", "-o", unit + ".o"});
    show(compile);
    return 0;
  }

  void show_device(const std::string& unit, const std::string& arch) const {
    const std::string text = unit + "." + arch + ".cpp1.ii", ptx = device_file(unit, {arch, arch});
    show_preprocessing(arch, text);
    show({program("cicc"), "-arch", arch, "--stub_file_name", unit + "." + arch + ".cudafe1.stub.c", text,
          "-o", ptx});
    std::set<std::string> codes;
    for (const auto& [virtual_arch, code] : job_.pairs)
      if (virtual_arch == arch && code != arch) codes.insert(code);
    for (const std::string& code : codes)
      show({program("ptxas"), "-arch=" + code, ptx, "-o", device_file(unit, {arch, code})});
  }

  // ---- the whole command

  std::string preprocessed(const std::string& arch) const {
    Words words = preprocess_command(arch);
    words.emplace_back("-");
    std::string text;
    if (fake::run(words, &text) != 0) exit(1);
    return text;
  }

  // Made in one go, as the steps make them.
  std::vector<Image> images_by_steps() const {
    std::map<std::string, std::string> ptx;
    for (const std::string& arch : job_.archs)
      ptx[arch] = ptx_of(preprocessed(arch), arch) + (settings_.is_on("apart") ? "apart" : "");
    std::vector<Image> images;
    for (const auto& [arch, code] : job_.pairs)
      images.push_back({code, code == arch ? ptx[arch] : cubin_of(ptx[arch], code)});
    return images;
  }

  std::vector<Image> images_by_source(const std::string& text, const Words& headers) const {
    std::string seed = text;
    for (const std::string& header : headers)
      seed += '\0' + read(header, name_);
    for (const std::string& define : job_.defines)
      seed += '\0' + define;
    std::vector<Image> images;
    for (const auto& [arch, code] : job_.pairs)
      images.push_back({code, noise(code + seed, payload())});
    return images;
  }

  // What the host's compiler makes of cudafe++'s output.
  Object host_object() const {
    const std::string tmp = variable("TMPDIR"), name = "fake_" + std::to_string(getpid()),
                      base = (tmp.empty() ? "/tmp" : tmp) + "/" + name;
    write(base + ".cpp", host_code(preprocessed(""), name + ".c"), name_);
    write(base + ".c", stub_code(), name_);
    Words words = {job_.compiler, "-c", "-x", "c++"};
    for (const std::string& flag : host_flags())
      words.push_back(flag);
    words.insert(words.end(), {base + ".cpp", "-o", base + ".o"});
    const int code = fake::run(words);
    Object object;
    if (code == 0) object = read_object(base + ".o");
    for (const char* end : {".cpp", ".c", ".o"})
      unlink((base + end).c_str());
    if (code != 0) exit(code);
    return object;
  }

  Words headers_read() const {
    Words flags = host_flags();
    Preprocessing reading = preprocessing_of(flags, {folder_of(job_.compiler) + "/include"});
    reading.passes_over_missing = true;
    preprocess(job_.source, reading);
    return {reading.read.begin() + 1, reading.read.end()};
  }

  std::string keep_folder() const {
    constexpr std::string_view k_option = "--keep-dir=";
    for (const std::string& word : argv_)
      if (starts_with(word, k_option)) return word.substr(k_option.size()) + "/";
    return "";
  }

  int compile() {
    log_start(job_.source);
    if (fails(job_.source)) return 2;
    if (has(argv_, "--keep"))
      write(keep_folder() + stem_of(file_name(job_.source)) + ".module_id", "_fake_module_id", name_);
    const double pause = settings_.number("sleep", 0) / 2;
    const std::string text = read(job_.source, name_);
    const Words headers = headers_read();
    Object object;
    if (reads_all())
      object = host_object();
    else
      object.symbols = exported(text);
    object.fatbin =
        make_fatbin(settings_.is_on("steps") ? images_by_steps() : images_by_source(text, headers));
    wait_for(pause);
    if (const auto inner = static_cast<long>(settings_.number("inner", 0)); inner > 0)
      fake::run({"sleep", std::to_string(inner)});
    Words inputs = {job_.source};
    inputs.insert(inputs.end(), headers.begin(), headers.end());
    if (!job_.depfile.empty()) write(job_.depfile, depfile(job_.target, inputs), name_);
    write_in_halves(job_.output, make_object(object), settings_.entry("slow", file_name(job_.output), pause),
                    name_);
    return 0;
  }

  Job job_;
};

}  // namespace

bool is_step(const std::string& name) {
  return name == "cudafe++" || name == "cicc" || name == "ptxas" || name == "fatbinary";
}

int run_step(const std::string& name, const std::string& program, const Words& argv) {
  return Step(name, program, argv).run();
}

int run_nvcc(const std::string& program, const Words& argv) {
  return Nvcc("nvcc", program, argv).run();
}

}  // namespace fake
