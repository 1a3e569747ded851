// A pack of CPU ops, a compiler that is made up (tests/fakes/toolkit/tools/compiler.cpp), and the real Ninja
// and disk: what the driver's tests build with.
#pragma once

#include <functional>
#include <mutex>

#include "driver/build_bundle.h"
#include "fakes/bare_machine.h"
#include "support/temp_folder.h"
#include "sys/system.h"

namespace dsbuild {

// What it was told, in words; and, where a test wants that, a stop at one of them.
class ToldEvents : public Events {
 public:
  std::vector<std::string> told;
  std::function<void(const std::string&)> watch = [](const std::string&) {};
  std::function<void()> tick = [] {};  // while a graph runs

  void on_plan(const Plan&, const std::vector<std::string>& removed) override {
    tell(removed.empty() ? "plan" : "plan without " + join(removed, ", "));
  }
  void on_graph_begins(RunEstimate&) override { tell("begins"); }
  void on_edge(const EdgeEvent& event) override {
    const char* kinds[] = {"started ", "ended ", "finished ", "failed "};
    if (event.kind != EdgeEventKind::ended) tell(kinds[static_cast<int>(event.kind)] + event.edge->output);
  }
  void on_tick() override { tick(); }
  void on_graph_ends() override { tell("ends"); }
  void on_failure(const EdgeFailure& failure) override { tell("failure of " + failure.edge.op); }
  void on_warning(const Warning& warning) override { tell("warning " + warning.code); }
  void on_removed(const Path& folder) override { tell("removed " + folder.filename().string()); }
  void on_message(const std::string& line) override { tell(line.substr(0, line.find(" in "))); }

  bool has(const std::string& text) const { return std::find(told.begin(), told.end(), text) != told.end(); }

 private:
  void tell(const std::string& text) {
    told.push_back(text);
    watch(text);
  }
};

struct BuildWorld {
  TempFolder folder;
  std::unique_ptr<FileSystem> disk = make_real_file_system();
  std::unique_ptr<FileSystem> files = std::make_unique<BareMachine>(*disk);
  std::unique_ptr<ProcessRunner> processes = make_real_process_runner();
  System system{*files, *processes, {}, DSBUILD_PROGRAM};
  ToldEvents events;
  Settings settings;

  BuildWorld() {
    const Path compiler = folder.path() / "compiler/g++";
    std::filesystem::create_directories(compiler.parent_path());
    std::filesystem::copy_file(DSBUILD_FAKE_TOOLS, compiler);
    link_programs({"as", "cat", "dirname", "ld", "sh", "true"});
    system.environment = {{"PATH", (folder.path() / "programs").string()},
                          {"CXX", compiler.string()},
                          {"DSBUILD_NINJA", program_of_machine("ninja").string()}};
    write("pack/pack.yaml", "name: small\nsource_root: src\n");
    add_op("one");
    add_op("two");
    settings.selection.ops_given = settings.selection.all = true;
    settings.pack.value = (folder.path() / "pack").string();
    settings.out.value = folder.path() / "out";
    settings.build_dir.value = folder.path() / "build";
    settings.cache_dir = folder.path() / "cache";
    settings.facts_file = settings.cache_dir / "facts.json";
    settings.local_cache.value = folder.path() / "cache/store";
    settings.accelerator = {AcceleratorKind::cpu, "test"};
    settings.jobs.value = 2;
  }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder.path() / path).parent_path());
    if (!files->write_file(folder.path() / path, text)) throw std::runtime_error("cannot write " + path);
  }
  void add_op(const std::string& name) {
    write("pack/" + name + "/op.yaml",
          "name: " + name + "\nbackend: cpu\nsources: [" + name + ".cpp]\nexports: [" + name + "_run]\n");
    write_source(name, "");
  }
  void write_source(const std::string& name, const std::string& more) {
    write("pack/src/" + name + ".cpp",
          "// export: " + name + "_run\nextern \"C\" int " + name + "_run() { return 1; }\n" + more);
  }
  Request request() {
    settings.variables = system.environment;
    return {settings, "a test"};
  }
  Result<Built> build(Limits limits = {}) { return build_in(system, std::move(limits)); }
  // In a world that differs in one thing.
  Result<Built> build_in(System& other, Limits limits = {}) {
    Session session(settings, other, events, std::move(limits));
    return build_bundle(request(), session);
  }
  Path program_of_machine(const std::string& name) const {
    const Environment own = read_environment();
    if (const std::string ninja = variable(own, "DSBUILD_NINJA"); name == "ninja" && !ninja.empty())
      return ninja;
    return find_program(*files, name, variable(own, "PATH")).value_or(name);
  }
  // On PATH there are these alone: dsbuild asks each compiler that it finds.
  void link_programs(const std::vector<std::string>& names) const {
    const Path programs = folder.path() / "programs";
    std::filesystem::create_directories(programs);
    for (const std::string& name : names)
      std::filesystem::create_symlink(program_of_machine(name), programs / name);
  }
  // Of the libraries that are published.
  std::map<std::string, std::string> bundle() const {
    std::map<std::string, std::string> found;
    for (const std::string& name : files->list(settings.out.value).value_or(std::vector<std::string>{}))
      found[name] = files->read_file(settings.out.value / name).value_or("");
    return found;
  }
};

}  // namespace dsbuild
