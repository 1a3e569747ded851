#!/usr/bin/env python3
"""README's "I want to add …", done: a copy of the checkout gets a new option, command, message, arch, probe and backend by touching
as many files as the table says, builds, and has them."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import testspace  # noqa: E402

COMMAND = """#include "command.h"

namespace dsbuild {

CommandRow greet_command() {
  return {.name = "greet",
          .help = "Say hello",
          .run = [](const CommandContext& context) -> Result<int> {
            DSBUILD_TRY(request, load_request(context));
            if (request.settings.niceness.value > 19)
              return fail(Exit::usage, "not_nice", request.settings.niceness.origin, "nobody is as nice", "19.");
            DSBUILD_CHECK(print_result("hello " + context.line.value("--who", "world") + "\\n"));
            return 0;
          },
          .examples = {{"dsbuild greet --who me", "a greeting"}},
          .options = {{.names = "--who", .type = "me|you", .help = "Whom [world]"}}};
}

}  // namespace dsbuild
"""
PROBE = """// {weekday: monday}
#include "requirements/probe.h"

namespace dsbuild {

Finding probe_weekday(const ProbeInput& input) {
  return subject_of(input) == "monday" ? met(input, "it is") : unmet(input, "it is not");
}

}  // namespace dsbuild
"""
BACKEND = """// A CPU of another kind.
#include "base/build_layout.h"
#include "plan/backend.h"

namespace dsbuild {
namespace {

Edge compile_edge(const BuildPlanInput& input, const BackendOp& op, const PlannedSource& source) {
  Edge edge = cxx_edge(input, op, source.source, {"-DOTHER_CPU"});
  edge.implicit_inputs.push_back(k_cxx_id_file);
  return edge;
}

}  // namespace

const Backend k_other_backend = {BackendKind::hip, false, compile_edge,
                                 [](const BuildPlanInput&, const BackendOp&) { return std::vector<std::string>{}; }};

}  // namespace dsbuild
"""
OPTION = """      {.names = "--niceness",
       .type = "N",
       .help = "How nice edges are (DSBUILD_NICENESS) [0]",
       .variable = "DSBUILD_NICENESS",
       .setting = "niceness",
       .value = number(&Settings::niceness, 0, -1, "")},
"""

# What README's table calls it: [(file, text before which something is put, what is put)]; without a text: a new file.
ADDITIONS = {
    "an option": [
        ("lib/settings/options.cpp", '      {.names = "--python",', OPTION),
        ("lib/settings/settings.h", "  Setting<int> lock_timeout{", "  Setting<int> niceness;\n"),
        ("docs/reference/cli.md", "| `--keep-going` |", "| `--niceness N` | `DSBUILD_NICENESS` | `niceness` | 0 | how nice edges are |\n"),
    ],
    "a command": [
        ("apps/dsbuild/command_greet.cpp", None, COMMAND),
        ("apps/dsbuild/commands.cpp", "CommandRow complete_command();", "CommandRow greet_command();\n"),
        ("apps/dsbuild/commands.cpp", "complete_command(),", "greet_command(), "),
    ],
    "an error or a warning": [("lib/base/message_code.h", '    {"not_sliced"', '    {"not_nice", "--niceness is more than there is."},\n')],
    "an architecture of NVIDIA's": [("lib/arch/nvidia_table.cpp", "    {{12, 0}, \"Blackwell\"", '    {{11, 9}, "Tomorrow", 1305, k_current},\n')],
    "a requirement (probe)": [
        ("lib/requirements/probe_weekday.cpp", None, PROBE),
        ("lib/requirements/probe.h", "Finding probe_torch(", "Finding probe_weekday(const ProbeInput& input);\n"),
        ("lib/requirements/probes.cpp", "      {RequirementKind::torch, probe_torch,",
         '      {RequirementKind::weekday, probe_weekday, [](const Requirement&) { return std::string("wait"); }},\n'),
        ("lib/registry/requirement_kinds.cpp", '      {RequirementKind::torch, "torch"',
         '      {RequirementKind::weekday, "weekday", "weekday", refuse_identifier},\n'),
        ("lib/registry/op_spec.h", "  tvm_ffi,\n", "  weekday,\n"),
    ],
    "a vendor of GPUs": [
        ("lib/arch/made_up_vendor.h", None, (ROOT / "tests/unit/arch/made_up_vendor.h").read_text(encoding="utf-8")),
        ("lib/arch/vendors.cpp", '#include "arch/nvidia.h"', '#include "arch/made_up_vendor.h"\n'),
        ("lib/arch/vendors.cpp", "  static const std::vector<const Vendor*> table", "  static const MadeUpVendor made_up;\n"),
        ("lib/arch/vendors.cpp", "&nvidia()", "&made_up, "),
    ],
    "a backend": [
        ("lib/plan/other_backend.cpp", None, BACKEND),
        ("lib/plan/backend.h", "extern const Backend k_cpu_backend;", "extern const Backend k_other_backend;\n"),
        ("lib/plan/backends.cpp", "k_sycl_backend};", "k_other_backend, "),
    ],
}


def not_of_the_checkout(folder, names):
    return {"build", ".git"} & set(names) if pathlib.Path(folder) == ROOT else {"__pycache__"} & set(names)


def rows_of_readme():
    """{what: number of files}, of the table's last column."""
    table = re.search(r"## I want to add …\n\n(.*?)\n\n", (ROOT / "README.md").read_text(encoding="utf-8"), re.S).group(1)
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines()[2:]]
    return {row[0]: int(row[-1]) for row in rows if row[-1].isdigit()}


class AddingTest(unittest.TestCase):
    maxDiff = None

    def test_readme_counts_the_files(self):
        counted = {what: len({file for file, *_ in additions}) for what, additions in ADDITIONS.items()}
        self.assertEqual({what: number for what, number in rows_of_readme().items() if what in counted}, counted)

    def test_a_copy_with_one_of_each_builds_and_has_them(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="dsbuild-adding-"))
        self.addCleanup(shutil.rmtree, folder)
        copy = folder / "checkout"
        shutil.copytree(ROOT, copy, symlinks=True, ignore=not_of_the_checkout)
        for additions in ADDITIONS.values():
            for file, before, text in additions:
                self.add(copy / file, before, text)
        subprocess.run(["cmake", "-S", copy, "-B", folder / "build", "-G", "Ninja", "-DDSBUILD_TESTS=OFF", "-DCMAKE_BUILD_TYPE=Debug",
                        "-DCMAKE_CXX_FLAGS_DEBUG=-O0"], check=True, stdout=subprocess.DEVNULL)
        built = subprocess.run(["cmake", "--build", folder / "build", "--target", "dsbuild"], capture_output=True, text=True)
        self.assertEqual(built.returncode, 0, built.stdout[-4000:])
        self.check_option(copy, folder)
        self.check_rest(copy)

    def add(self, file, before, text):
        if before is None:
            self.assertFalse(file.exists())
            file.write_text(text)
            return
        old = file.read_text(encoding="utf-8")
        self.assertEqual(old.count(before), 1, f"{before} in {file}")
        file.write_text(old.replace(before, text + before), encoding="utf-8")

    def run_new(self, copy, *words, env=None, code=0):
        """The new program, below the copy, so that it finds its packs."""
        link = copy / "dsbuild"
        if not link.exists():
            shutil.copy(copy.parent / "build/apps/dsbuild/dsbuild", link)
        run = subprocess.run([link, *words], cwd=copy.parent, capture_output=True, text=True,
                             env={"PATH": os.environ["PATH"], "HOME": str(copy.parent), **(env or {})})
        self.assertEqual(run.returncode, code, run)
        return run.stdout + run.stderr

    def add_op(self, copy, name, more=""):
        op = copy / "mypack" / name
        op.mkdir(parents=True)
        (op / f"{name}.cpp").write_text('extern "C" int op_run() { return 1; }\n')
        (op / "op.yaml").write_text(f"name: {name}\nbackend: cpu\nsources: [{name}/{name}.cpp]\n{more}")

    def check_option(self, copy, folder):
        self.add_op(copy, "plain")
        self.assertIn("--niceness N", self.run_new(copy, "--help-all"))
        self.assertIn("\\fB\\-\\-niceness\\fR \\fIN\\fR", self.run_new(copy, "--help-man"))
        self.assertIn("--niceness\tHow nice", self.run_new(copy, "complete", "dsbuild --nicen"))
        (folder / "nice.yaml").write_text("niceness: 3\n")
        for words, env, row in ((["--niceness", "1"], {}, r"niceness +1 +--niceness"),
                                ([], {"DSBUILD_NICENESS": "2"}, r"niceness +2 +DSBUILD_NICENESS"),
                                (["--config", "nice.yaml"], {}, r"niceness +3 +nice.yaml:1:1")):
            self.assertRegex(self.run_new(copy, "plan", "-v", "--pack", copy / "mypack", "--ops", "plain", *words, env=env), row)

    def check_rest(self, copy):
        self.assertEqual(self.run_new(copy, "greet", "--who", "you"), "hello you\n")
        self.assertIn("dsbuild greet --who me", self.run_new(copy, "greet", "--help"))
        self.assertIn("error[not_nice]: --niceness: nobody is as nice", self.run_new(copy, "greet", "--niceness", "20", code=2))
        self.assertIn("gx2", self.run_new(copy, "complete", "dsbuild --arch gx"))
        (copy.parent / "empty.so").write_bytes((copy / "dsbuild").read_bytes())
        self.assertIn("empty.so", self.run_new(copy, "inspect", "empty.so", "--gpu", "gx1"))
        self.assertIn("11.9", self.run_new(copy, "complete", "dsbuild --arch 11."))
        self.add_op(copy, "friday", "requires: [{weekday: friday}]\n")
        report = self.run_new(copy, "report", "--pack", copy / "mypack")
        self.assertIn("it is not", report)
        self.assertIn("wait", report)


if __name__ == "__main__":
    testspace.main()
