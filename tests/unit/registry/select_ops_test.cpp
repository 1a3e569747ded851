#include "base/args.h"
#include "spec_world.h"

namespace dsbuild {
namespace {

OpBuilder op(const std::string& name, BackendKind backend, const std::vector<std::string>& needs = {}) {
  OpSpec spec;
  spec.name = name;
  spec.build_var = "DS_BUILD_" + to_upper(name);
  spec.backend = backend;
  for (const std::string& need : needs)
    spec.needs.push_back({need, {}, {}});
  return OpBuilder(spec);
}

Registry registry() {
  Registry all;
  all.pack = "native";
  all.ops = {op("aio", BackendKind::cpu, {"pin_memory"}), op("cpu_adam", BackendKind::cpu),
             op("fused_adam", BackendKind::cuda), op("gds", BackendKind::cuda, {"aio"}),
             op("pin_memory", BackendKind::cpu)};
  return all;
}

// Settings as the command line and the environment would give them.
Settings settings(const std::string& ops, const Environment& environment = {}) {
  Arguments arguments;
  if (!ops.empty()) arguments["--ops"] = ops;
  FakeFileSystem files;
  const auto loaded = load_settings(arguments, environment, files, "/data");
  if (!loaded) FAIL(loaded.error().what);
  return *loaded;
}

// "fused_adam: by_name, --ops" for each op that is on.
std::vector<std::string> chosen(const SelectedOps& selected) {
  std::vector<std::string> texts;
  for (const SelectedOp& one : selected.ops) {
    if (one.wanted == Wanted::off) continue;
    texts.push_back(one.name + (one.wanted == Wanted::by_name ? ": by_name, " : ": by_all, ") + one.because);
  }
  return texts;
}

SelectedOps select(const Settings& given, bool cpu_only = false) {
  const auto selected = select_ops(given, registry(), cpu_only);
  if (!selected) FAIL(selected.error().where << ": " << selected.error().what);
  return *selected;
}

std::string error(const Settings& given, bool cpu_only = false) {
  const auto selected = select_ops(given, registry(), cpu_only);
  const auto any = selected ? check_any_selected(registry(), cpu_only, *selected) : Result<void>{};
  if (selected && any) return "no error";
  const Error& found = selected ? any.error() : selected.error();
  return std::to_string(static_cast<int>(found.exit)) + " " + found.code + " " + found.where + ": " +
         found.what + " | " + found.fix;
}

std::string because(const SelectedOps& selected, const std::string& name) {
  for (const SelectedOp& one : selected.ops) {
    if (one.name == name) return one.because;
  }
  return "absent";
}

TEST_CASE("every op of the registry has its answer, in order") {
  const SelectedOps selected = select(settings("cpu_adam"));
  CHECK(selected.ops.size() == 5);
  CHECK(chosen(selected) == Args{"cpu_adam: by_name, --ops"});
  CHECK(because(selected, "fused_adam") == "not in --ops");
}

// DeepSpeed's setup.py, as a table: DS_BUILD_OPS, DS_BUILD_FUSED_ADAM -> is fused_adam built, is cpu_adam?
TEST_CASE("an op's variable is above DS_BUILD_OPS, and an empty one counts as unset") {
  struct Row {
    const char *all, *own;
    bool fused_adam, cpu_adam;
  };
  for (const Row& row : {Row{"1", "", true, true}, Row{"1", "0", false, true}, Row{"0", "1", true, false},
                         Row{"", "1", true, false}, Row{"1", "1", true, true}}) {
    const SelectedOps selected =
        select(settings("", {{"DS_BUILD_OPS", row.all}, {"DS_BUILD_FUSED_ADAM", row.own}}));
    const auto is_on = [&](size_t place) { return selected.ops[place].wanted != Wanted::off; };
    INFO(row.all << " " << row.own);
    CHECK(is_on(2) == row.fused_adam);
    CHECK(is_on(1) == row.cpu_adam);
    CHECK(selected.warnings.empty());
  }
}

TEST_CASE("DS_BUILD_OPS asks for all ops, DS_BUILD_<OP> for one by its name") {
  const SelectedOps selected = select(settings("", {{"DS_BUILD_OPS", "1"}, {"DS_BUILD_GDS", "yes"}}));
  CHECK(because(selected, "cpu_adam") == "DS_BUILD_OPS");
  CHECK(selected.ops[3] == SelectedOp{"gds", Wanted::by_name, "DS_BUILD_GDS", {}});
}

TEST_CASE("--ops is above the variables") {
  const Environment environment = {{"DS_BUILD_OPS", "1"}, {"DS_BUILD_CPU_ADAM", "1"}};
  CHECK(chosen(select(settings("fused_adam", environment))) == Args{"fused_adam: by_name, --ops"});
}

TEST_CASE("DS_BUILD_<OP>=0 holds under --ops all, which one warning says; an explicit name beats it") {
  const Environment environment = {{"DS_BUILD_FUSED_ADAM", "0"}, {"DS_BUILD_GDS", "off"}};
  const SelectedOps selected = select(settings("all", environment));
  CHECK(because(selected, "fused_adam") == "DS_BUILD_FUSED_ADAM=0");
  CHECK(chosen(selected).size() == 3);
  REQUIRE(selected.warnings.size() == 1);
  CHECK(selected.warnings[0] ==
        warning("left_out_by_variable", "--ops",
                "DS_BUILD_FUSED_ADAM=0, DS_BUILD_GDS=0 holds: 'all' leaves out fused_adam, gds",
                "Unset it, or name the op: --ops all,fused_adam."));
  const SelectedOps named = select(settings("all,fused_adam,-gds", environment));
  CHECK(named.ops[2] == SelectedOp{"fused_adam", Wanted::by_name, "--ops", {}});
  CHECK(named.warnings.empty());
}

TEST_CASE("a name in a config file does not beat an op's variable") {
  Settings given = settings("fused_adam,cpu_adam", {{"DS_BUILD_FUSED_ADAM", "0"}});
  given.selection.origin = "configs/ci.yaml:1:1";
  CHECK(chosen(select(given)) == Args{"cpu_adam: by_name, configs/ci.yaml:1:1"});
}

TEST_CASE("where there is no CUDA, all means the CPU ops") {
  CHECK(chosen(select(settings("all"), true)) ==
        Args{"aio: by_all, --ops", "cpu_adam: by_all, --ops", "pin_memory: by_all, --ops"});
  CHECK(because(select(settings("all"), true), "gds") == "all means the CPU ops here");
  CHECK(chosen(select(settings("fused_adam"), true)) == Args{"fused_adam: by_name, --ops"});
}

TEST_CASE("an op that a selected op needs is selected too, as bindingly, and so are its own needs") {
  CHECK(chosen(select(settings("gds"))) ==
        Args{"aio: by_name, needed by gds", "gds: by_name, --ops", "pin_memory: by_name, needed by aio"});
  const SelectedOps all = select(settings("all,gds"));
  CHECK(all.ops[0].wanted == Wanted::by_name);
  CHECK(all.ops[4].wanted == Wanted::by_name);
  CHECK(all.ops[1].wanted == Wanted::by_all);
}

TEST_CASE("a needed op is built although it was left out, with a warning") {
  const SelectedOps by_word = select(settings("aio,-pin_memory"));
  CHECK(because(by_word, "pin_memory") == "needed by aio");
  REQUIRE(by_word.warnings.size() == 1);
  CHECK(by_word.warnings[0] ==
        warning("needed_op", "pin_memory",
                "it is built although it was left out (-pin_memory in --ops), because aio needs it",
                "Leave out aio too, or drop the exclusion."));
  const SelectedOps by_variable = select(settings("", {{"DS_BUILD_AIO", "1"}, {"DS_BUILD_PIN_MEMORY", "0"}}));
  REQUIRE(by_variable.warnings.size() == 1);
  CHECK(by_variable.warnings[0].what ==
        "it is built although it was left out (DS_BUILD_PIN_MEMORY=0), because aio needs it");
  CHECK(select(settings("aio", {{"DS_BUILD_PIN_MEMORY", "0"}})).warnings == by_variable.warnings);
}

TEST_CASE("an op that is there only because another needs it says so") {
  CHECK(select(settings("gds")).ops[4].needed_by == "aio");
  CHECK(select(settings("gds,pin_memory")).ops[4].needed_by.empty());
  CHECK(select(settings("all")).ops[4].needed_by.empty());
}

TEST_CASE("an unknown op is an error with the nearest name") {
  CHECK(error(settings("fused_adm")) ==
        "2 unknown_op --ops: no op 'fused_adm' in pack 'native' (did you mean 'fused_adam'?) | Ops: aio, "
        "cpu_adam, "
        "fused_adam, gds, pin_memory.");
  CHECK(error(settings("all,-zzz")).rfind("2 unknown_op --ops: no op 'zzz' in pack 'native' | ", 0) == 0);
  CHECK(error(settings("none")).rfind("2 unknown_op --ops: no op 'none'", 0) == 0);
}

TEST_CASE("a DS_BUILD_ variable of no op is an error when on, a warning when off, nothing when empty") {
  CHECK(
      error(settings("all", {{"DS_BUILD_FUSED_ADM", "1"}})) ==
      "2 unknown_build_var DS_BUILD_FUSED_ADM: no op of pack 'native' has this variable (did you mean "
      "'DS_BUILD_FUSED_ADAM'?) | Unset it. Variables: DS_BUILD_AIO, DS_BUILD_CPU_ADAM, DS_BUILD_FUSED_ADAM, "
      "DS_BUILD_GDS, DS_BUILD_PIN_MEMORY.");
  const SelectedOps off = select(settings("all", {{"DS_BUILD_FUSED_ADM", "0"}}));
  REQUIRE(off.warnings.size() == 1);
  CHECK(off.warnings[0] ==
        warning("unknown_build_var", "DS_BUILD_FUSED_ADM",
                "no op of pack 'native' has this variable (did you mean 'DS_BUILD_FUSED_ADAM'?)",
                "It has no effect; unset it."));
  CHECK(select(settings("all", {{"DS_BUILD_FOO", ""}})).warnings.empty());
}

TEST_CASE("nothing selected is an error that shows both ways to select") {
  const std::string expected =
      "2 nothing_selected --ops: no op is selected | Select with --ops all or --ops aio,…\nor with "
      "DS_BUILD_OPS=1 or "
      "DS_BUILD_AIO=1 in the environment.";
  CHECK(error(settings("")) == expected);
  CHECK(error(settings("", {{"DS_BUILD_OPS", "0"}})) == expected);
}

TEST_CASE("all without CUDA and without CPU ops cannot be met") {
  CHECK(error(settings("all,-aio,-cpu_adam,-pin_memory"), true).rfind("3 nothing_to_build --pack: ", 0) == 0);
}

TEST_CASE("an absent op can be left out and switched off, and asked for by name it says what it is for") {
  Registry all = registry();
  all.absent = {{"sparse", "DS_BUILD_SPARSE", "torch 2.11.0", "torch <2.0"}};
  CHECK(select_ops(settings("all,-sparse"), all, false));
  const auto off = select_ops(settings("all", {{"DS_BUILD_SPARSE", "0"}}), all, false);
  REQUIRE(off);
  CHECK(off->warnings.empty());
  const auto named = select_ops(settings("sparse"), all, false);
  REQUIRE_FALSE(named);
  CHECK(named.error().exit == Exit::unmet);
  CHECK(
      error_text(named.error()) ==
      "op_not_offered --ops: there is no op 'sparse' for torch 2.11.0 | Leave it out: it is for torch <2.0.");
  const auto on = select_ops(settings("", {{"DS_BUILD_SPARSE", "1"}}), all, false);
  REQUIRE_FALSE(on);
  CHECK(error_text(on.error()) ==
        "op_not_offered DS_BUILD_SPARSE: there is no op 'sparse' for torch 2.11.0 | Leave it out: it is for "
        "torch <2.0.");
}

TEST_CASE("a variable of another pack's op cannot be met here, and is no fault when it is off") {
  Registry all = registry();
  all.other_packs["DS_BUILD_CPU_LION"] = {"deepspeed"};
  const auto on = select_ops(settings("", {{"DS_BUILD_CPU_LION", "1"}}), all, false);
  REQUIRE_FALSE(on);
  CHECK(on.error().exit == Exit::unmet);
  CHECK(error_text(on.error()) ==
        "other_pack DS_BUILD_CPU_LION: its op is of pack 'deepspeed', and pack 'native' is built | Build "
        "that pack "
        "(--pack deepspeed), or unset DS_BUILD_CPU_LION.");
  const auto off = select_ops(settings("all", {{"DS_BUILD_CPU_LION", "0"}}), all, false);
  REQUIRE(off);
  CHECK(off->warnings.empty());
}

}  // namespace
}  // namespace dsbuild
