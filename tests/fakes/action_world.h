// A machine in memory where actions of a build are run by their words, as build.ninja has them: checkouts
// with build folders, one cache, compilers (fake_compilers.h). Tests see what a user sees: which tools
// started, what they said, the bytes of outputs, records, hits and misses.
//
//   ActionWorld world;
//   world.source("a.cu", "__global__ void k() { 1 }\n");
//   CHECK(world.run(world.slice("compute_80")).started == Args{"cpp", "cicc", "ptxas"});
//   world.enter("/home/bob");   // another checkout of the same sources
//   CHECK(world.run(world.slice("compute_80")).started.empty());
#pragma once

#include <ostream>

#include "base/build_layout.h"
#include "exec/record.h"
#include "fakes/fake_compilers.h"
#include "fakes/strict_runner.h"
#include "kinds/run_action.h"
#include "nvcc/nvcc_commands.h"
#include "nvcc/step_file.h"
#include "support/test_data.h"
#include "sys/clock.h"

namespace dsbuild {

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::ostream& operator<<(std::ostream& out, ResultOrigin made_of) {
  static const std::vector<const char*> names = {"nothing", "tools",      "some tools",
                                                 "cache",   "same input", "record"};
  return out << names.at(static_cast<size_t>(made_of));
}

struct Action {
  Args words;
  std::vector<std::string> outputs;  // in the build folder; the record lies next to the first
};

struct Ran {
  int code = 0;
  ResultOrigin made_of = ResultOrigin::nothing_said;
  std::string said;   // by tools, and by dsbuild
  std::string error;  // its code; "" without one
  Args started;       // tools, in order (FakeCompilers::name_of)
  std::string cache;  // "h" for each hit, "m" for each miss
};

class ActionWorld {
 public:
  FakeFileSystem files;
  FakeProcessRunner processes;
  FakeCompilers tools{files, processes};
  StrictRunner runner{processes, files};
  std::string archs = "800,900";  // __CUDA_ARCH_LIST__
  std::string cache = "/cache/store";
  std::string telling = "tools/nvcc.id\ntools/cxx.id\n";    // whose assembler says what it read
  std::function<void(StepFile&)> adapt = [](StepFile&) {};  // of nvcc's steps, at enter()

  ActionWorld() {
    for (const char* header : {"cuda_runtime.h", "fatbinary_section.h"})
      files.add_file(std::string("/cuda/targets/x86_64-linux/include/") + header,
                     std::string("int in_") + (*header == 'c' ? "runtime" : "section") + ";\n");
    files.add_file("/cuda/lib64/libcudart_static.a", "cudart");
    enter("/home/ann");
  }

  // Lays out the checkout and its build folder, which becomes the current one.
  void enter(const std::string& home) {
    home_ = home;
    const Path build = home + "/build";
    files.current = build;
    files.add_directory(home + "/project");
    if (!files.exists(build / k_pack_folder)) files.add_link(build / k_pack_folder, home + "/project");
    for (const auto& [path, text] : sources_)
      if (files.bytes(home + "/project/" + path) != text) files.add_file(home + "/project/" + path, text);
    for (const char* tool : {k_nvcc_tool, k_cxx_tool, k_hip_tool, k_icpx_tool, k_hipify_tool})
      plan(id_file(tool), std::string("00ff /usr/bin/") + tool + "\n");
    plan(k_device_id_file, "00ff cicc\n");
    plan(k_local_cache_file, cache + "\n");
    plan(k_digest_memo_file, "/cache/digests\n");
    plan(k_tool_folders_file, "/usr/include\n-L/usr/lib\n");
    plan(k_assemblers_file, telling);
    plan_unit("adam");
  }

  // What the plan writes for a sliced source of an op.
  void plan_unit(const std::string& op) {
    plan(unit(op) + k_module_id_end, module_id_of("pack/a.cu") + "\n");
    plan(unit(op) + k_arch_list_end, archs + "\n");
    steps_.clear();
    for (StepFile step : steps_of_nvcc()) {
      adapt(step);
      const std::string text = render_step_file(step);
      const std::string file = std::string(k_steps_folder) + "/" + sha256(text).substr(0, 16);
      plan(file, text);
      steps_[step.part] = {file, step};
    }
  }

  // A planned file; an equal one stays.
  void plan(const std::string& path, const std::string& text) {
    if (files.bytes(path) != text) files.add_file(path, text);
  }

  // A file of the project, here and in all checkouts that are entered later.
  void source(const std::string& path, const std::string& text) {
    sources_[path] = text;
    files.add_file("pack/" + path, text);
  }
  // The same while a tool runs: at this moment.
  void edit_now(const std::string& path, const std::string& text) {
    if (path.starts_with("pack/")) sources_[path.substr(5)] = text;
    files.add_file(path, text);
    (void)files.set_mtime(path, file_clock_now());
    just_edited_.push_back(files.absolute(path));
  }
  // A second after the last edit_now().
  void wait_a_second() {
    for (const Path& path : just_edited_)
      (void)files.set_mtime(path, file_clock_now() - 1'000'000'000);
    just_edited_.clear();
  }

  static std::string unit(const std::string& op = "adam") { return "obj/" + op + "/a.cu/a"; }

  // part: "front", "compute_80", "compute_90", "host", "fatbin"
  Action slice(const std::string& part, const std::string& op = "adam") const {
    const auto& [file, step] = steps_.at(part);
    Action action;
    for (const std::string& end : step.outputs)
      action.outputs.push_back(unit(op) + end);
    action.words = {"slice", k_nvcc_id_file, action.outputs.front(), file, "--"};
    if (step.preprocess.empty()) return action;
    action.words.insert(action.words.end(), {"pack/a.cu", "-gencode=arch=compute_80,code=sm_80"});
    return action;
  }

  // Like g++'s and clang's compiles in a plan. `source`: "b.cpp".
  static Action compile(const std::string& source, const Args& flags = {}, const std::string& op = "adam",
                        bool is_shared = false, const std::string& compiler = "g++") {
    return compile_to("obj/" + op + "/" + source + ".o", "pack/" + source, flags, is_shared, compiler);
  }
  static Action precompile(const std::string& header) {
    return compile_to(header + ".gch", header, {"-x", "c++-header"}, false, "g++");
  }
  Action link(const std::vector<std::string>& objects, const Args& flags = {}) {
    plan("lib/adam.so.rsp", join(objects, "\n"));
    Args words = {"run", k_cxx_id_file, "lib/adam.so",     "--",
                  "g++", "-o",          "lib/adam.so.tmp", "@lib/adam.so.rsp"};
    words.insert(words.end(),
                 {"-shared", "-Wl,--dependency-file=lib/adam.so.d", "-L/cuda/lib64", "-lcudart_static"});
    words.insert(words.end(), flags.begin(), flags.end());
    return {words, {"lib/adam.so"}};
  }
  Action device_link(const std::vector<std::string>& objects, const Args& flags = {"-dlink"},
                     const std::string& linker = "nvcc") {
    const std::string output = "obj/adam/device_images.o";
    plan(output + k_objects_list_end, join(objects, "\n"));
    Args words = {"run", id_file(linker), output, "--", linker, "-o", output + ".tmp"};
    words.insert(words.end(), objects.begin(), objects.end());
    words.insert(words.end(), flags.begin(), flags.end());
    return {words, {output}};
  }
  static Action hipify(const std::vector<std::string>& sources) {
    Action action{
        {"hipify", k_hipify_id_file, "hipify/adam.list", "--", "/usr/bin/python3", "/torch/utils/hipify"},
        {"hipify/adam.list"}};
    for (const std::string& source : sources) {
      action.words.push_back("pack/" + source);
      action.outputs.push_back("hipify/adam/" + source);
    }
    return action;
  }
  static Action bundle(const std::string& host, const std::string& image) {
    return {
        {"bundle", k_hip_id_file, "obj/adam/a.o", host, image, "--", "clang++", "host-x86_64", "hip-gfx90a"},
        {"obj/adam/a.o"}};
  }

  // A tool that throws Killed (FakeCompilers::before, after) ends the run as SIGKILL does.
  struct Killed {};
  Ran run(const Action& action) {
    Ran ran;
    const size_t before = processes.started.size();
    (void)files.remove_all("store.uses");
    for (const std::string& output : action.outputs)
      files.add_directory(Path(output).parent_path());
    try {
      const auto end =
          run_action(action.words, system_, runner, [&](std::string_view text) { ran.said += text; });
      ran.error = end ? "" : end.error().code;
      ran.code = end ? end->code : static_cast<int>(end.error().exit);
      if (end) ran.made_of = end->made_of;
    } catch (const Killed&) {
      ran.code = 137;
    }
    for (size_t i = before; i < processes.started.size(); ++i)
      ran.started.push_back(FakeCompilers::name_of(processes.started[i]));
    for (const std::string& line : split_lines(files.bytes("store.uses")))
      if (line == "m" || line.starts_with('h')) ran.cache += line.front();
    return ran;
  }

  // Their bytes; "" of one that is not there.
  std::vector<std::string> bytes_of(const Action& action) const {
    std::vector<std::string> bytes;
    for (const std::string& output : action.outputs)
      bytes.push_back(files.bytes(output));
    return bytes;
  }
  // Whether each is the same file as before: not even written anew.
  std::vector<std::string> identities_of(const Action& action) const {
    std::vector<std::string> identities;
    for (const std::string& output : action.outputs) {
      const auto identity = files.identity(output);
      identities.push_back(identity ? identity->text() : "");
    }
    return identities;
  }
  std::optional<Record> record_of(const Action& action) const {
    return parse_record(files.bytes(record_file(action.outputs.front())));
  }
  bool has_record(const Action& action) const { return record_of(action).has_value(); }

  // Other bytes at the end of each entry of the cache.
  void damage_cache() {
    for (const std::string& path : files.tree(cache))
      if (Path(path).filename().string().size() == 62) files.add_file(path, files.bytes(path) + "x");
  }
  size_t entries_in_cache() const {
    const auto paths = files.tree(cache);
    return static_cast<size_t>(std::count_if(paths.begin(), paths.end(), [](const std::string& path) {
      return Path(path).filename().string().size() == 62;
    }));
  }

 private:
  struct PlannedStep {
    std::string file;
    StepFile step;
  };

  // What nvcc 13.0 runs itself for sm_80, sm_90 and compute_90 (tests/unit/nvcc/nvcc_commands_test.cpp).
  static const std::vector<StepFile>& steps_of_nvcc() {
    static const std::vector<StepFile> steps =
        plan_steps(*parse_nvcc_commands(test_data("unit/nvcc/data/steps-13.0.txt")), {"nvcc", "-O3"});
    return steps;
  }

  static Action compile_to(const std::string& output, const std::string& source, const Args& flags,
                           bool is_shared, const std::string& compiler) {
    Action action{{"run", compiler == "g++" ? k_cxx_id_file : k_hip_id_file, output}, {output}};
    if (is_shared) action.words.emplace_back("text");
    action.words.insert(action.words.end(), {"--", compiler});
    action.words.insert(action.words.end(), flags.begin(), flags.end());
    action.words.insert(action.words.end(),
                        {"-MD", "-MF", output + ".d", "-MT", output, "-c", source, "-o", output + ".tmp"});
    return action;
  }

  std::string home_;
  std::vector<Path> just_edited_;
  std::map<std::string, std::string> sources_;
  std::map<std::string, PlannedStep> steps_;
  Path program_;
  System system_{files, processes, {{"PATH", "/usr/bin"}}, program_};
};

}  // namespace dsbuild
