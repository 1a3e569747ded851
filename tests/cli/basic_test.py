#!/usr/bin/env python3
"""Help, version, presets and precedence, terminals and colours, plan's formats, clean, inspect."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, CliTest, TestSpace, run_on_terminal, testspace  # noqa: E402
from cuobjdump import find_cuobjdump, list_images  # noqa: E402

ESCAPE = "\x1b["
SAMPLES = REPOSITORY / "tests" / "unit" / "binary" / "data"


class HelpTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()

    def answer(self, *words):
        run = self.space.run(*words)
        self.assertEqual((run.code, run.err), (0, ""))
        return run.out

    def test_help_is_one_screen_with_examples(self):
        text = self.answer("--help")
        self.assertLessEqual(len(text.splitlines()), 56)
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertIn('dsbuild --ops all --arch 7.0,8.0+PTX', text)
        for word in ("plan", "report", "inspect", "verify", "toolkits", "clean", "--ops", "--arch", "--out", "Exit codes"):
            self.assertIn(word, text)
        self.assertNotIn("--lock-timeout", text)

    def test_help_all_shows_the_rest(self):
        text = self.answer("--help-all")
        for word in ("--pack", "--source", "--lock-timeout", "--allow-disjoint-archs", "--format", "--bundle"):
            self.assertIn(word, text)

    def test_a_command_has_help_of_its_own(self):
        text = self.answer("plan", "--help")
        self.assertIn("Usage: dsbuild plan", text)
        self.assertIn("--format", text)

    def test_version(self):
        self.assertRegex(self.answer("--version"), r"^dsbuild \d+\.\d+\.\d+\n$")
        declared = re.search(r"^project\(dsbuild VERSION ([\d.]+)", (REPOSITORY / "CMakeLists.txt").read_text(), re.M).group(1)
        self.assertEqual(self.answer("--version"), f"dsbuild {declared}\n")
        self.assertIn(f"\nversion: {declared}\n", (REPOSITORY / "ops" / "native" / "pack.yaml").read_text())

    def test_version_with_details_says_what_the_program_is_built_from(self):
        details = self.answer("--version", "-v")
        self.assertEqual([line.split()[0] for line in details.splitlines()],
                         ["dsbuild", "commit", "compiler", "glibc", "OpenSSL", "libcurl"])
        for words in (["-V", "--verbose"], ["-Vv"], ["-v", "--version"]):
            self.assertEqual(self.answer(*words), details)
        self.assertRegex(details, r"\ncompiler  (gcc|clang) \d+\.\d+.*, C\+\+20, (Release|Debug)\n")
        self.assertRegex(details, r"\ncommit    ([0-9a-f]{40}|unknown: not built from a git checkout)\n")

    def test_every_option_of_the_help_is_in_the_documentation(self):
        documented = (REPOSITORY / "docs" / "reference" / "cli.md").read_text()
        options = set(re.findall(r"--[a-z][a-z0-9_-]+", self.answer("--help-all").split("Examples:")[0]))
        plain = {"--help", "--help-all", "--version", "--verbose", "--quiet"}
        missing = [option for option in options - plain if not re.search(rf"(?<![\w-]){option}\b", documented)]
        self.assertEqual(missing, [])


class TerminalTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace(sleep=0.05)

    def setUp(self):
        self.space.remove_build()

    def test_elsewhere_there_is_one_line_with_a_time_per_edge(self):
        run = self.space.build()
        self.assertEqual(run.code, 0, run)
        self.assertNotIn("\r", run.out + run.err)
        self.assertNotIn(ESCAPE, run.out + run.err)
        edges = re.findall(r"^\d\d:\d\d:\d\d \[(\d+)/16\] (?:compile|link|verify) \S.* \d+\.\d s$", run.err, re.M)
        self.assertEqual([int(number) for number in edges], list(range(1, 17)))

    def test_a_terminal_has_one_live_line(self):
        for columns, bar in ((60, ""), (120, r"\[=*> *\] ")):
            self.space.remove_build()
            code, text = run_on_terminal(self.space, *self.space.arguments(), columns=columns)
            self.assertEqual(code, 0)
            drawn = re.findall(r"\r([^\r\n]*?)\x1b\[K", text)
            self.assertGreater(len(drawn), 10)
            self.assertRegex(drawn[5], rf"^{bar}\[\d+/16\] \d+% \d+\.\d s")
            self.assertLess(max(map(len, drawn)), columns)
            self.assertTrue(text.endswith("\r\x1b[K"), "the line is gone at the end")
            self.assertNotRegex(text, r"\d\d:\d\d:\d\d \[")

    def test_quiet_says_errors_alone(self):
        run = self.space.build("-q")
        self.assertEqual((run.code, run.out, run.err), (0, "", ""))
        self.assertEqual(self.space.build("-q").out, "")
        self.assertIn("next: dsbuild verify", self.space.build().out)
        for words in (("verify", str(self.space.out), "-q"), ("new", "scale", "-q"), ("cache", "clear", "-q"),
                      ("clean", "-q", "--build-dir", str(self.space.build_dir))):
            run = self.space.run(*words)
            self.assertEqual((run.code, run.out, run.err), (0, "", ""), words)
        (self.space.out / "alpha.so").write_bytes(b"damaged")
        self.assertIn("alpha.so", self.space.run("verify", str(self.space.out), "-q").out)
        self.space.toolkit.set(fail=["alpha.cu"])
        self.addCleanup(self.space.toolkit.set, fail=[])
        self.space.remove_out()
        run = self.space.build("-q")
        self.assertEqual((run.code, run.out), (1, ""))
        self.assertRegex(run.err, r"(?s)^pack/src/alpha/alpha.cu\(3\): error: .*\nerror\[edge_failed\]: alpha: ")

    def test_a_second_run_runs_no_edge(self):
        self.assertEqual(self.space.build().edges_run(), 16)
        run = self.space.build()
        self.assertEqual(run.edges_run(), 0)
        self.assertIn("unchanged", run.out)

    def test_the_last_lines_say_what_there_is_and_what_is_next(self):
        lines = self.space.build().out.splitlines()
        self.assertRegex(lines[0], rf"^{re.escape(str(self.space.out))}  4 ops, \d+\.\d KiB")
        self.assertRegex(lines[1], r"^built 4, skipped 0 in \d+\.\d s, 16 edges run; slowest: .+ \(\d+\.\d s\)$")
        self.assertEqual(lines[2], f"next: dsbuild verify {self.space.out}")
        verified = self.space.run(*lines[2].split()[2:])
        self.assertEqual(verified.code, 0, verified)


class ColorTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        cls.wrong = cls.space.arguments("--ops", "nothing")
        cls.plan = cls.space.arguments("plan")

    def has_color(self, words, **options):
        return ESCAPE in run_on_terminal(self.space, *words, **options)[1]

    def test_a_terminal_gets_colours(self):
        self.assertTrue(self.has_color(self.wrong))
        self.assertTrue(self.has_color(self.plan, output="stdout"))

    def test_no_color_and_color_never_switch_them_off(self):
        for words, output in ((self.wrong, "stderr"), (self.plan, "stdout")):
            self.assertFalse(self.has_color(words, output=output, env={"NO_COLOR": "1"}))
            self.assertFalse(self.has_color([*words, "--color", "never"], output=output))
            self.assertTrue(self.has_color(words, output=output, env={"NO_COLOR": ""}), "an empty one counts as unset")

    def test_nothing_else_gets_colours_unless_it_is_told_so(self):
        self.assertNotIn(ESCAPE, self.space.run(*self.plan).out + self.space.run(*self.wrong).err)
        self.assertIn(ESCAPE, self.space.run(*self.plan, "--color", "always").out)
        self.assertIn(ESCAPE, self.space.run(*self.wrong, "--color", "always").err)
        self.assertIn(ESCAPE, self.space.run(*self.plan, "--color", "always", env={"NO_COLOR": "1"}).out)


class SettingsTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace()
        cls.config = cls.space.root / "mine.yaml"
        cls.config.write_text("arch: [8.6]\njobs: 3\nops: [alpha]\nstrict: true\n")

    def settings(self, *words, env=None, without=("--arch", "-j", "--ops")):
        """{setting: (value, where it is from)}, as plan -v shows them."""
        run = self.run_in(self.space, "plan", "-v", *words, env=env, without=without)
        self.assertEqual(run.code, 0, run)
        table = run.out[run.out.index("\nsetting "):].strip().splitlines()[1:]
        cells = [re.split(r"  +", line.replace(str(self.space.root), "<TMP>")) for line in table]
        return {row[0]: (row[1] if len(row) == 3 else "", row[-1]) for row in cells}

    def test_the_command_line_beats_the_environment_beats_the_file_beats_the_default(self):
        environment = {"TORCH_CUDA_ARCH_LIST": "9.0", "MAX_JOBS": "5"}
        everything = ["--config", self.config]
        cases = [
            (["--arch", "8.0", "--jobs", "7", *everything], environment, ("8.0", "--arch"), ("7", "--jobs")),
            (everything, environment, ("9.0", "TORCH_CUDA_ARCH_LIST"), ("5", "MAX_JOBS")),
            (everything, {}, ("8.6", "<TMP>/mine.yaml:1:1"), ("3", "<TMP>/mine.yaml:2:1")),
            (["--ops", "alpha"], {}, ("", "default"), ("auto", "default")),
        ]
        for words, env, arch, jobs in cases:
            with self.subTest(words=words, env=env):
                settings = self.settings(*words, env=env)
                self.assertEqual((settings["arch"], settings["jobs"]), (arch, jobs))

    def test_the_environments_selection_replaces_the_files(self):
        self.assertEqual(self.settings("--config", self.config)["ops"], ("alpha", "<TMP>/mine.yaml:3:1"))
        settings = self.settings("--config", self.config, env={"DS_BUILD_GAMMA": "1"})
        self.assertEqual(settings["DS_BUILD_GAMMA"], ("on", "DS_BUILD_GAMMA"))
        self.assertEqual(settings["ops"][0], "")

    def test_the_presets(self):
        docker = self.settings("--config", "docker", without=("--arch", "-j", "--ops", "--out", "--build-dir"))
        self.assertEqual(docker["arch"][0], "8.0;8.6;9.0+PTX")
        self.assertEqual(docker["out"], ("/opt/dsbuild", "configs/docker.yaml:6:1"))
        self.assertEqual(docker["strict"][0], "yes")
        ci = self.settings("--config", "ci")
        self.assertEqual((ci["lock_timeout"][0], ci["keep_going"][0], ci["offline"][0]), ("600", "yes", "yes"))
        dev = self.settings("--config", "dev", "--arch", "8.0", "--ops", "alpha")
        self.assertEqual((dev["keep_going"][0], dev["arch"]), ("yes", ("8.0", "--arch")))

    def test_deepspeeds_variables_select_ops(self):
        plan = self.run_in(self.space, "plan", "--json", without=("--ops",),
                           env={"DS_BUILD_OPS": "1", "DS_BUILD_BETA": "0"})
        status = {op["name"]: op["status"] for op in json.loads(plan.out)["ops"]}
        self.assertEqual(status, {"alpha": "build", "beta": "off", "gamma": "build", "host": "build"})


class PlanTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace(steps=True)

    def plan(self, *words):
        run = self.run_in(self.space, "plan", "--arch", "7.5;8.0+PTX", *words)
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertFalse(self.space.build_dir.exists(), "plan wrote something")
        return run.out

    def test_the_table(self):
        rows = [re.split(r"  +", line) for line in self.plan().splitlines()]
        self.assertIn(["beta", "7.5 8.0+PTX", "7.5"], rows)
        self.assertIn(["gamma", "8.0+PTX", "7.5 (op: needs >= 8.0)"], rows)
        self.assertEqual(rows[2], ["shared", "8.0+PTX"])

    def test_env_is_for_a_shell(self):
        script = self.plan("--format", "env") + 'printf %s "$TORCH_CUDA_ARCH_LIST"'
        shell = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
        self.assertEqual(shell.stdout, "7.5;8.0+PTX")

    def test_flags_are_one_line_per_cuda_op(self):
        eighty = "-gencode=arch=compute_80,code=sm_80 -gencode=arch=compute_80,code=compute_80"
        seventy_five = "-gencode=arch=compute_75,code=sm_75"
        self.assertEqual(self.plan("--format", "flags").splitlines(),
                         [f"alpha {seventy_five} {eighty}", f"beta {seventy_five} {eighty}", f"gamma {eighty}"])

    def test_plan_starts_no_compiler(self):
        self.plan()
        self.assertEqual(self.space.compiled(), [])

    def test_a_graph_of_the_compilers_own_commands_gives_the_same_libraries_without_dsbuild(self):
        space = TestSpace(steps=True)
        folder = space.root / "plain"
        folder.mkdir()
        graph = folder / "build.ninja"
        graph.write_text(self.run_in(space, "plan", "--arch", "7.5;8.0+PTX", "--format", "ninja").out)
        self.assertNotIn(str(space.program), graph.read_text())
        for command in re.findall("^#   (.*)$", graph.read_text(), re.MULTILINE):
            subprocess.run(["sh", "-c", command], cwd=folder, check=True)
        ninja = [space.environment.get("DSBUILD_NINJA", "ninja"), "-C", folder]
        environment = {**space.environment, "PATH": f"{space.toolkit.home}/bin:{space.environment['PATH']}"}

        def built():
            return subprocess.run(ninja, env=environment, capture_output=True, text=True, check=True).stdout

        built()
        run = space.build("--arch", "7.5;8.0+PTX", "--backend", "nvcc")
        self.assertEqual(run.code, 0, run)
        libraries = {file.name: file.read_bytes() for file in space.out.glob("*.so")}
        self.assertEqual({file.name: file.read_bytes() for file in (folder / "lib").glob("*.so")}, libraries)
        self.assertIn("no work to do", built())
        header = space.pack.source("alpha/shared.h")
        header.write_text(header.read_text() + "// more\n")
        self.assertNotIn("no work to do", built())


class BackendTest(CliTest):
    """How CUDA files are compiled, and what build.ninja says of it."""

    def graph(self, space, *words):
        """What the build said, and the command of each rule."""
        run = self.run_in(space, "--ops", "gamma", "--arch", "8.0", *words)
        self.assertEqual(run.code, 0, run)
        text = (space.build_dir / "build.ninja").read_text()
        return run, dict(re.findall(r"^rule (\w+)\n  command = (.*)$", text, re.M))

    def test_by_default_by_slices_and_at_any_time_by_whole_nvcc_commands(self):
        space = TestSpace(steps=True)
        run, rules = self.graph(space)
        self.assertNotIn("warning", run.err)
        self.assertIn("[compute_80]", run.err)
        self.assertIn("action slice", rules["cuda_slice"])
        self.assertNotIn("cuda_compile", rules)
        run, rules = self.graph(space, "--backend", "nvcc")
        self.assertNotIn("warning", run.err)
        self.assertIn("action run $tools $out -- $nvcc $flags $gencode ", rules["cuda_compile"])
        self.assertIn("action run $tools $out -- $cxx ", rules["link"])
        self.assertNotIn("cuda_slice", rules)

    def test_by_default_by_nvcc_where_there_can_be_no_slices_and_one_line_says_so(self):
        run, rules = self.graph(TestSpace())
        self.assertEqual(run.err.count("not_sliced"), 1, run)
        self.assertIn("2 files compiled by whole nvcc commands: nvcc's dry run has a step", run.err)
        self.assertIn("action run $tools $out -- $nvcc ", rules["cuda_compile"])
        self.assertNotIn("cuda_slice", rules)


class CleanTest(CliTest):
    def test_clean_removes_the_build_folder_and_keeps_the_bundle(self):
        space = TestSpace()
        self.assertEqual(self.run_in(space, "--ops", "host").code, 0)
        run = self.run_in(space, "clean")
        self.assertEqual((run.code, run.err), (0, f"removed {space.build_dir}\n"))
        self.assertFalse(space.build_dir.exists())
        self.assertEqual(space.verify().code, 0)
        self.assertEqual(self.run_in(space, "clean", "--bundle").code, 0)
        self.assertFalse(space.out.exists())

    def test_clean_leaves_a_build_folder_that_holds_a_bundle(self):
        space = TestSpace()
        out = space.build_dir / "release" / "out"
        self.assertEqual(self.run_in(space, "--ops", "host", "--out", out).code, 0)
        self.check("bundle_in_build_dir", space, "clean", code=2)
        self.assertEqual(space.run("verify", str(out)).code, 0)
        run = self.run_in(space, "clean", "--bundle", "--out", out)
        self.assertEqual((run.code, run.err), (0, f"removed {space.build_dir}\n"))

    def test_clean_with_the_bundle_leaves_a_folder_that_is_no_bundle(self):
        space = TestSpace()
        space.out.mkdir()
        (space.out / "thesis.txt").write_text("years\n")
        self.assertEqual(self.run_in(space, "clean", "--bundle").code, 2)
        self.assertEqual(os.listdir(space.out), ["thesis.txt"])


class InspectTest(CliTest):
    def test_against_cuobjdump(self):
        find_cuobjdump()
        nvcc = pathlib.Path(testspace.find_real_toolkit()) / "bin" / "nvcc"
        space = TestSpace()
        source = space.root / "k.cu"
        source.write_text("__global__ void k(float* x) { *x += 1; }\n")
        for name, options in {"plain.o": [], "plain.so": ["-shared", "-Xcompiler=-fPIC"]}.items():
            if not options:
                options = ["-c"]
            subprocess.run([nvcc, *options, "-gencode=arch=compute_80,code=sm_80",
                            "-gencode=arch=compute_90a,code=sm_90a", "-gencode=arch=compute_90,code=compute_90",
                            "-o", space.root / name, source], check=True, stdin=subprocess.DEVNULL)
            self.assertEqual(self.ours(space, space.root / name), list_images(space.root / name))

    def test_tile_images_are_named(self):
        space = TestSpace()
        shutil.copy(SAMPLES / "tile.fatbin", space.root)
        self.check_alone("inspect_tile", space, "inspect", "tile.fatbin", code=0)

    def test_an_unknown_kind_of_device_code_is_an_error(self):
        space = TestSpace()
        fatbin = bytearray((SAMPLES / "concat_of_one.fatbin").read_bytes())
        fatbin[16:18] = (512).to_bytes(2, "little")  # the kind of the first entry
        (space.root / "newer.fatbin").write_bytes(fatbin)
        self.check_alone("inspect_unknown_kind", space, "inspect", "newer.fatbin", code=1)

    def ours(self, space, file):
        images = json.loads(space.run("inspect", str(file), "--json").out)["files"][0]["images"]
        return sorted((image["kind"], image["arch"].replace("compute_", "sm_")) for image in images)


if __name__ == "__main__":
    testspace.main()
