#include "slices/run_step.h"

#include <algorithm>
#include <chrono>

#include "base/digest.h"
#include "sys/memory_gate.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_elf_magic =
    "\x7f"
    "ELF";

// The names of the files in a depfile for Make.
std::vector<std::string> files_in_depfile(std::string_view depfile) {
  std::vector<std::string> files;
  std::string word;
  const auto finish = [&] {
    if (!word.empty()) files.push_back(std::exchange(word, {}));
  };
  for (size_t i = 0; i < depfile.size(); ++i) {
    const char c = depfile[i], next = i + 1 < depfile.size() ? depfile[i + 1] : '\n';
    if (c == '\\' && next == '\n') {
      finish();
      ++i;
    } else if (c == '\\' || (c == '$' && next == '$')) {
      word += next;
      ++i;
    } else if (c == ' ' || c == '\n') {
      finish();
    } else {
      word += c;
    }
  }
  finish();
  if (!files.empty()) files.erase(files.begin());  // the target
  return files;
}

bool starts_directive(std::string_view line, std::string_view directive) {
  const size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string_view::npos || line[hash] != '#') return false;
  const size_t name = line.find_first_not_of(" \t", hash + 1);
  return name != std::string_view::npos && line.substr(name).starts_with(directive);
}

bool is_if_zero(std::string_view line) {
  if (!starts_directive(line, "if")) return false;
  const std::string words = trim(line.substr(line.find("if") + 2));
  return words == "0";
}

// R"delimiter( behind what is no name; not "ERROR".
bool may_hold_raw_string(std::string_view text) {
  constexpr size_t k_longest_delimiter = 16;
  for (size_t at = text.find("R\""); at != std::string_view::npos; at = text.find("R\"", at + 1)) {
    const char before = at == 0 ? ' ' : text[at - 1];
    const bool starts_literal = std::string_view("uUL8").find(before) != std::string_view::npos ||
                                !(std::isalnum(static_cast<unsigned char>(before)) || before == '_');
    const std::string_view rest = text.substr(at + 2, k_longest_delimiter + 1);
    const size_t end = rest.find_first_of("( )\\\"\n\t");
    if (starts_literal && end != std::string_view::npos && rest[end] == '(') return true;
  }
  return false;
}

class StepRun {
 public:
  StepRun(const SliceStep& request, System& system, const std::function<void(std::string_view)>& print)
      : request_(request),
        system_(system),
        files_(system.files),
        print_(print),
        turn_(system.environment, request.output) {}

  Result<int> run() {
    DSBUILD_CHECK(load());
    DSBUILD_CHECK(files_.remove_all(scratch_));
    DSBUILD_CHECK(files_.make_directories(scratch_));
    auto code = step_.part == "fatbin" ? make_fatbin() : make_part();
    (void)files_.remove_all(scratch_);
    if (code && *code != 0) explain_failure();
    return code;
  }

 private:
  Result<void> load() {
    DSBUILD_TRY(text, files_.read_file(request_.step_file));
    step_ = parse_step_file(text);
    unit_ = without_end(request_.output);
    if (!request_.twin.empty()) twin_ = without_end(request_.twin);
    DSBUILD_TRY(module_id, files_.read_file(unit_ + ".module_id"));
    module_id_ = trim(module_id);
    DSBUILD_TRY(identity, files_.read_file(k_tools_file));
    tools_ = identity;
    stem_ = Path(unit_).filename().string();
    scratch_ = unit_ + "." + step_.part + ".run";
    environment_ = system_.environment;
    for (const auto& [name, value] : step_.environment)
      environment_[name] = replace_all(value, k_any_path, variable(system_.environment, "PATH"));
    if (const std::string temporary = variable(system_.environment, "TMPDIR"); !temporary.empty())
      environment_["TMPDIR"] = files_.absolute(temporary).string();  // tools run in several folders
    return {};
  }

  std::string without_end(const std::string& output) const {
    return output.substr(0, output.size() - step_.outputs.front().size());
  }
  std::string in_scratch(const std::string& end) const { return (scratch_ / (stem_ + end)).string(); }

  // `unit`: the stand-in's path from where the command runs.
  Words expand(const Words& words, const std::string& unit) const {
    Words expanded;
    for (const std::string& word : words) {
      std::string text = replace_all(word, k_any_source, request_.source);
      text = replace_all(std::move(text), k_any_unit, unit);
      expanded.push_back(replace_all(std::move(text), k_any_seed, module_id_));
    }
    return expanded;
  }

  // What the tool said is printed, whether it fails or not.
  Result<int> run_tool(Words argv, const Path& folder) {
    DSBUILD_TRY(result,
                system_.processes.run({std::move(argv), environment_, folder, std::chrono::hours(24)}));
    print_(result.out + result.err);
    turn_.add_peak(result.peak_memory_bytes);
    return result.exit_code;
  }

  Result<int> make_part() {
    if (!step_.preprocess.empty()) {
      DSBUILD_TRY(code, preprocess());
      if (code != 0) return code;
    } else {
      DSBUILD_CHECK(gather_host_files());
    }
    const std::string key = sha256(key_text());
    if (key_is(unit_, request_.output, key)) return 0;
    const auto last = files_.read_file(key_file_of(request_.output));
    (void)files_.remove_all(key_file_of(request_.output));  // what follows may be cut short
    if (!twin_.empty() && key_is(twin_, request_.twin, key)) return take_twin(key);
    turn_.wait_to_work();
    DSBUILD_TRY(code, run_commands(last ? *last : ""));
    if (code != 0) return code;
    DSBUILD_CHECK(publish());
    DSBUILD_CHECK(files_.write_file(key_file_of(request_.output), key + "\n" + second_key_ + "\n"));
    if (!images_kept_) turn_.done();
    return 0;
  }

  Result<int> preprocess() {
    DSBUILD_TRY(arch_list, files_.read_file(unit_ + ".arch_list"));
    turn_.wait_to_look();
    Words argv = expand(step_.preprocess, (scratch_ / stem_).string());
    for (std::string& word : argv)
      if (word == k_arch_list) word += trim(arch_list);
    const std::string output = unit_ + step_.outputs.front();
    const std::string depfile = in_scratch(".d");
    argv.insert(argv.end(), {"-MD", "-MF", depfile, "-MT", output});
    DSBUILD_TRY(code, run_tool(argv, {}));
    if (code != 0) return code;
    DSBUILD_CHECK(write_depfile(output, depfile));
    DSBUILD_TRY(bytes, files_.read_file(value_of(argv, "-o")));
    inputs_ = std::move(bytes);
    DSBUILD_CHECK(files_.write_file(in_scratch(".module_id"), module_id_));
    return 0;
  }

  Result<void> write_depfile(const std::string& output, const Path& from) {
    DSBUILD_TRY(depfile, files_.read_file(from));
    for (const std::string& name : files_in_depfile(depfile)) {
      const auto text = files_.read_file(name);
      if (!text || text->find("__CUDA_ARCH_LIST__") == std::string::npos) continue;
      depfile += output + ": " + unit_ + ".arch_list\n";
      break;
    }
    return files_.write_file(output + ".d", depfile);
  }

  // cudafe1.cpp, the stub that it includes, and what that includes in place of all images.
  Result<void> gather_host_files() {
    DSBUILD_TRY(source, files_.read_file(unit_ + step_.inputs.at(0)));
    DSBUILD_TRY(stub, files_.read_file(unit_ + step_.inputs.at(1)));
    const std::string shim = fatbin_shim();
    DSBUILD_CHECK(files_.write_file(in_scratch(".cudafe1.cpp"), source));
    DSBUILD_CHECK(files_.write_file(in_scratch(k_stub_end), stub));
    DSBUILD_CHECK(files_.write_file(in_scratch(".fatbin.c"), shim));
    inputs_ = source + '\0' + stub + '\0' + shim;
    return {};
  }

  std::string symbol() const { return "dsbuild_fatbin_" + sha256(module_id_).substr(0, 32); }

  // Declares what nvcc's own fatbin.c defines; the fatbin part defines it.
  std::string fatbin_shim() const {
    return "#include \"fatbinary_section.h\"\n"
           "#define __CUDAFATBINSECTION \".nvFatBinSegment\"\n"
           "#define __CUDAFATBINDATASECTION \".nv_fatbin\"\n"
           "extern \"C\" {\n"
           "extern const unsigned long long " +
           symbol() +
           "[] __attribute__((visibility(\"hidden\")));\n"
           "static const __fatBinC_Wrapper_t __fatDeviceText __attribute__((aligned(8)))\n"
           "    __attribute__((section(__CUDAFATBINSECTION))) = {0x466243b1, 1, " +
           symbol() +
           ", 0};\n"
           "}\n";
  }

  // The names in the commands are free of the op: an op that shares the source has the same key.
  std::string key_text() const {
    std::string text = tools_ + module_id_ + inputs_;
    for (const Words& command : step_.commands)
      text += '\0' + shell_join(expand(command, stem_)) + '\0' + identity_of(command.front());
    return text;
  }

  // Of a tool: cicc may be upgraded without nvcc.
  std::string identity_of(const std::string& program) const {
    const auto path = find_program(files_, program, variable(environment_, "PATH"));
    const auto identity = path ? files_.identity(*path) : std::nullopt;
    return identity ? std::to_string(identity->size) + ":" + std::to_string(identity->mtime_ns) : "";
  }

  // Whether the outputs of this part are there and were made of this.
  bool key_is(const std::string& unit, const std::string& output, const std::string& key) const {
    const auto known = files_.read_file(key_file_of(output));
    return known && known->starts_with(key + "\n") && has_outputs(unit);
  }

  bool has_outputs(const std::string& unit) const {
    return std::all_of(step_.outputs.begin(), step_.outputs.end(),
                       [&](const std::string& end) { return files_.kind(unit + end) == FileKind::file; });
  }

  Result<int> take_twin(const std::string& key) {
    for (const std::string& end : step_.outputs) {
      DSBUILD_TRY(bytes, files_.read_file(twin_ + end));
      DSBUILD_TRY(written, files_.write_if_different(unit_ + end, bytes));
      (void)written;
    }
    DSBUILD_CHECK(files_.write_file(key_file_of(request_.output), key + "\n"));
    return 0;
  }

  // `last`: the key file of what is there.
  Result<int> run_commands(const std::string& last) {
    for (size_t i = 0; i < step_.commands.size(); ++i) {
      DSBUILD_TRY(code, run_command(step_.commands[i]));
      if (code != 0) return code;
      if (i > 0 || step_.commands.size() == 1) continue;
      DSBUILD_CHECK(make_second_key());
      images_kept_ = images_are(last);
      if (images_kept_) return 0;
    }
    return 0;
  }

  // The host's compiler has relative include folders, so it runs here; the others beside their files.
  Result<int> run_command(const Words& command) {
    const bool is_host = step_.part == "host";
    return run_tool(expand(command, is_host ? (scratch_ / stem_).string() : stem_),
                    is_host ? Path() : scratch_);
  }

  // Of what ptxas gets: an edit of host code changes the text that cicc reads, and not its PTX.
  Result<void> make_second_key() {
    DSBUILD_TRY(ptx, files_.read_file(in_scratch(step_.outputs.front())));
    std::string text = tools_ + ptx;
    for (size_t i = 1; i < step_.commands.size(); ++i)
      text += '\0' + shell_join(expand(step_.commands[i], stem_));
    second_key_ = sha256(text);
    return {};
  }

  bool images_are(const std::string& last) const {
    const std::vector<std::string> lines = split_lines(last);
    return lines.size() == 2 && lines[1] == second_key_ && has_outputs(unit_);
  }

  Result<void> publish() {
    for (const std::string& end : step_.outputs) {
      if (images_kept_ && end.ends_with(".cubin")) continue;
      DSBUILD_TRY(bytes, files_.read_file(in_scratch(end)));
      if (end.ends_with(".cubin") && !bytes.starts_with(k_elf_magic))
        return fail(Exit::failed, "bad_elf", unit_ + end, "ptxas gave no ELF file",
                    "Run the build again; if it stays, build with --backend nvcc.");
      if (step_.part == "front") bytes = blank_disabled_code(std::move(bytes));
      if (end.ends_with(k_stub_end)) bytes = replace_all(std::move(bytes), stem_ + end, stem_ + k_stub_end);
      DSBUILD_TRY(written, files_.write_if_different(unit_ + end, bytes));
      (void)written;
    }
    return {};
  }

  // fatbinary writes the names that it is given, so it runs beside the images.
  Result<int> make_fatbin() {
    const Path folder = Path(unit_).parent_path();
    const std::string assembler = unit_ + ".fatbin.s";
    turn_.wait_to_work();
    DSBUILD_CHECK(files_.write_file(assembler, ".section .nv_fatbin,\"a\"\n.align 8\n.globl " + symbol() +
                                                   "\n.hidden " + symbol() + "\n" + symbol() +
                                                   ":\n.incbin \"" + stem_ +
                                                   ".fatbin\"\n.section .note.GNU-stack,\"\",@progbits\n"));
    for (Words command : step_.commands) {
      command = expand(command, stem_);
      if (command.back() == stem_ + ".o") command.back() += ".tmp";
      DSBUILD_TRY(code, run_tool(command, folder));
      if (code != 0) return code;
    }
    DSBUILD_CHECK(files_.rename(unit_ + ".o.tmp", unit_ + ".o"));
    (void)files_.remove_all(assembler);
    (void)files_.remove_all(unit_ + ".fatbin");
    turn_.done();
    return 0;
  }

  void explain_failure() {
    if (request_.source.empty()) return;
    Words command = step_.nvcc;
    command.insert(command.end(), request_.gencodes.begin(), request_.gencodes.end());
    command.insert(command.end(), {"-c", request_.source, "-o", "/dev/null"});
    print_("the same with nvcc alone: " + shell_join(command) + "\n");
  }

  const SliceStep& request_;
  System& system_;
  FileSystem& files_;
  const std::function<void(std::string_view)>& print_;
  StepFile step_;
  std::string unit_, twin_, stem_;
  std::string module_id_, tools_;
  std::string second_key_;  // "" where ptxas has no part
  bool images_kept_ = false;
  std::string inputs_;  // what the commands are run on
  Path scratch_;
  Environment environment_;
  MemoryTurn turn_;
};

}  // namespace

Result<int> run_slice_step(const SliceStep& request, System& system,
                           const std::function<void(std::string_view)>& print) {
  return StepRun(request, system, print).run();
}

std::string key_file_of(const std::string& output) {
  return output + ".key";
}

std::string blank_disabled_code(std::string text) {
  if (may_hold_raw_string(text)) return text;  // in it, lines may look alike
  std::string blanked;
  blanked.reserve(text.size());
  int depth = 0;  // of conditions within disabled code
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    const std::string_view line(text.data() + begin, end - begin);
    if (depth == 1 && starts_directive(line, "el")) return text;
    if (depth > 0 && starts_directive(line, "if")) ++depth;
    if (depth > 0 && starts_directive(line, "endif")) --depth;
    if (depth == 0)
      blanked += line;
    else
      blanked += '\n';
    if (depth == 0 && is_if_zero(line)) depth = 1;
    begin = end;
  }
  return blanked;
}

}  // namespace dsbuild
