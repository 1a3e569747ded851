#include "slices/run_step.h"

#include <algorithm>
#include <chrono>

#include "base/digest.h"
#include "slices/host_text.h"
#include "slices/include_record.h"
#include "slices/kept_results.h"
#include "sys/clock.h"
#include "sys/memory_gate.h"

namespace dsbuild {
namespace {

constexpr std::string_view k_elf_magic =
    "\x7f"
    "ELF";

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
    DSBUILD_TRY(module_id, files_.read_file(unit_ + k_module_id_end));
    module_id_ = trim(module_id);
    DSBUILD_TRY(identity, files_.read_file(k_tools_file));
    tools_ = identity;
    const auto store = request_.uses_store ? store_of_build(files_) : std::nullopt;
    if (store) store_.emplace(*store);
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
    if (step_.preprocess.empty()) {
      DSBUILD_CHECK(gather_host_files());
      return make_of_inputs(sha256(key_text(inputs_)));
    }
    DSBUILD_CHECK(plan_preprocess());
    if (store_) record_key_ = record_key();
    if (const auto key = recall_preprocess()) {
      DSBUILD_TRY(is_there, take_known(*key));
      if (is_there) return 0;
    }
    DSBUILD_TRY(code, preprocess());
    if (code != 0) return code;
    const std::string key = sha256(key_text(inputs_));
    remember_preprocess(key);
    return make_of_inputs(key);
  }

  // Takes what was made of the same inputs, here or elsewhere.
  Result<bool> take_known(const std::string& key) {
    if (key_is(unit_, request_.output, key)) return true;
    if (!twin_.empty() && key_is(twin_, request_.twin, key)) return take(key, outputs_of(twin_));
    if (!store_ || key == missed_) return false;
    const auto stored = store_->find(key);
    note_store_use(stored.has_value(), files_);
    if (!stored || !has_all_outputs(*stored)) {
      missed_ = key;
      return false;
    }
    return take(key, stored);
  }

  Result<int> make_of_inputs(const std::string& key) {
    DSBUILD_TRY(is_there, take_known(key));
    if (is_there) return 0;
    const auto last = files_.read_file(key_file_of(request_.output));
    (void)files_.remove_all(key_file_of(request_.output));  // what follows may be cut short
    turn_.wait_to_work();
    DSBUILD_TRY(code, run_commands(last ? *last : ""));
    if (code != 0) return code;
    DSBUILD_CHECK(publish());
    DSBUILD_CHECK(files_.write_file(key_file_of(request_.output), key + "\n" + second_key_ + "\n"));
    if (!images_kept_) turn_.done();
    if (store_ && !images_kept_)  // kept images may have been damaged since
      if (const auto entry = outputs_of(unit_)) store_->put(key, *entry);
    return 0;
  }

  Result<void> plan_preprocess() {
    DSBUILD_TRY(arch_list, files_.read_file(unit_ + k_arch_list_end));
    preprocess_ = step_.preprocess;
    for (std::string& word : preprocess_)
      if (word == k_arch_list) word += trim(arch_list);
    return {};
  }

  // Of all that is known before the preprocessor runs.
  std::string record_key() const {
    const auto source = files_.read_file(request_.source);
    return sha256("includes " + key_text(shell_join(expand(preprocess_, stem_)) + (source ? *source : "")));
  }

  // The key of what the preprocessor would write, if that is known; with its depfile.
  std::optional<std::string> recall_preprocess() {
    if (!store_) return std::nullopt;
    const auto record = find_include_record(*store_, record_key_, files_);
    const bool is_known =
        record && files_.write_file(request_.output + ".d", render_depfile(request_.output, record->files));
    return is_known ? std::optional(record->result) : std::nullopt;
  }

  void remember_preprocess(const std::string& key) {
    if (store_)
      add_include_record(*store_, record_key_,
                         render_include_record({key, read_files_}, preprocess_, begin_ns_, files_));
  }

  Result<int> preprocess() {
    turn_.wait_to_look();
    Words argv = expand(preprocess_, (scratch_ / stem_).string());
    const std::string output = unit_ + step_.outputs.front();
    const std::string depfile = in_scratch(".d");
    argv.insert(argv.end(), {"-MD", "-MF", depfile, "-MT", output});
    DSBUILD_TRY(code, run_tool(argv, {}));
    if (code != 0) return code;
    DSBUILD_CHECK(write_depfile(output, depfile));
    DSBUILD_TRY(bytes, files_.read_file(value_of(argv, "-o")));
    inputs_ = std::move(bytes);
    DSBUILD_CHECK(files_.write_file(in_scratch(k_module_id_end), module_id_));
    return 0;
  }

  Result<void> write_depfile(const std::string& output, const Path& from) {
    DSBUILD_TRY(depfile, files_.read_file(from));
    read_files_ = files_in_depfile(depfile);
    for (const std::string& name : read_files_) {
      const auto text = files_.read_file(name);
      if (!text || text->find("__CUDA_ARCH_LIST__") == std::string::npos) continue;
      depfile += output + ": " + unit_ + ".arch_list\n";
      read_files_.push_back(unit_ + k_arch_list_end);
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
  std::string key_text(const std::string& inputs) const {
    std::string text = tools_ + module_id_ + inputs;
    for (const Words& command : step_.commands)
      text += '\0' + shell_join(expand(command, stem_)) + '\0' +
              identity_of_tool(command.front(), environment_, files_);
    return text;
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

  std::optional<StoreEntry> outputs_of(const std::string& unit) const {
    StoreEntry entry;
    for (const std::string& end : step_.outputs) {
      auto bytes = files_.read_file(unit + end);
      if (!bytes) return std::nullopt;
      entry.push_back({end, std::move(*bytes)});
    }
    return entry;
  }

  bool has_all_outputs(const StoreEntry& entry) const {
    return std::equal(entry.begin(), entry.end(), step_.outputs.begin(), step_.outputs.end(),
                      [](const StoredFile& file, const std::string& end) { return file.name == end; });
  }

  Result<bool> take(const std::string& key, const std::optional<StoreEntry>& entry) {
    if (!entry) return false;
    (void)files_.remove_all(key_file_of(request_.output));  // what follows may be cut short
    for (const StoredFile& file : *entry)
      DSBUILD_CHECK(files_.write_if_different(unit_ + file.name, file.bytes));
    DSBUILD_CHECK(files_.write_file(key_file_of(request_.output), key + "\n"));
    return true;
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
    print_(std::string(k_nvcc_alone) + shell_join(command) + "\n");
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
  std::string inputs_;                   // what the commands are run on
  Words preprocess_;                     // with the arch list
  std::vector<std::string> read_files_;  // by the preprocessor
  std::optional<ContentStore> store_;
  std::string record_key_;  // of what the preprocessor reads
  std::string missed_;      // a key that the store does not have
  const int64_t begin_ns_ = file_clock_now();
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

}  // namespace dsbuild
