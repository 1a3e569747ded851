#!/usr/bin/env python3
"""Bad options, variables, config files and requests: each has its exit code and a message that says where, what and how
to fix it (tests/golden/cli)."""

import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, Folder, TestSpace, options_only, testspace  # noqa: E402
from packs import Pack, binding, kernel  # noqa: E402

NO_LOCKS = "#include <errno.h>\nint flock(int file, int how) { (void)file; (void)how; errno = ENOLCK; return -1; }\n"
RISCV = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/utsname.h>
int uname(struct utsname* name) {
  int (*real)(struct utsname*) = (int (*)(struct utsname*))dlsym(RTLD_NEXT, "uname");
  int code = real(name);
  strcpy(name->machine, "riscv64");
  return code;
}
"""


def archs_pack(folder):
    """Two ops that share no arch, one whose second source is for 9.0a only, one for 8.0 and newer."""
    pack = Pack(folder, "archs")
    pack.add_op("low", {"low.cu": kernel("low_run")}, {"archs": {"max": "7.5"}})
    pack.add_op("high", {"high.cu": kernel("high_run")}, {"archs": {"min": "9.0"}})
    pack.add_op("split", {"any.cu": kernel("split_any"), "hopper.cu": kernel("split_hopper")})
    spec = pack.folder / "split" / "op.yaml"
    spec.write_text('name: split\nsources: [any.cu, {path: hopper.cu, archs: {only: ["9.0a"]}}]\n')
    return pack


class MessageTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.space = TestSpace(steps=True)

    def message(self, name, *words, code, **options):
        run = self.check(name, self.space, *words, code=code, **options)
        self.assertFalse(self.space.out.exists(), "a refused request published something")
        return run

    def write(self, name, text):
        file = self.space.root / name
        file.write_text(text)
        return file


class UsageTest(MessageTest):
    def test_an_unknown_option_names_the_nearest(self):
        self.message("unknown_option", "--jbos=3", code=2)

    def test_an_unknown_command_names_the_nearest(self):
        self.check_alone("unknown_command", self.space, "verfy", code=2)

    def test_an_option_given_twice_is_refused(self):
        self.check_alone("option_twice", self.space, "--out", "a", "--out", "b", code=2)

    def test_an_option_without_its_value(self):
        self.check_alone("option_without_value", self.space, "plan", "--arch", code=2)

    def test_an_unknown_plan_format(self):
        self.message("unknown_format", "plan", "--format", "xml", code=2)

    def test_a_shared_cache_of_no_known_scheme(self):
        self.message("bad_remote_url", "--remote", "ftp://cache.example.org/dsbuild", code=2)

    def test_a_service_is_of_the_remote_execution_api(self):
        self.message("bad_execution_url", "--remote-exec", "https://user:secret@build.example.org/main", code=2)

    def test_tools_go_there_or_are_there(self):
        self.message("bad_remote_tools", "--remote-tools", "worker:cuda", code=2)

    def test_idle_cores_help_or_do_not(self):
        self.message("bad_remote_local", "--remote-local", "always", code=2)

    def test_a_property_of_workers_has_a_name(self):
        self.message("bad_platform", "--remote-platform", "OSFamily=linux,=large", code=2)

    def test_max_jobs_takes_a_number(self):
        self.message("bad_max_jobs", code=2, env={"MAX_JOBS": "many"}, without=("-j",))

    def test_jobs_takes_at_least_one(self):
        self.message("no_jobs", "--jobs", "0", code=2, without=("-j",))

    def test_a_variable_for_compilers_has_a_name(self):
        self.message("bad_variable", "--pass-environment", "SITE_FLAGS=-g", code=2)

    def test_color_has_three_values(self):
        self.message("bad_color", "--color", "alway", code=2)

    def test_an_accelerator_of_deepspeed_that_is_not_built(self):
        self.message("accelerator_not_built", code=3, env={"DS_ACCELERATOR": "npu"})

    def test_xpu_changes_nothing_for_ops_that_are_not_deepspeeds(self):
        plain, asked = (self.run_in(self.space, "plan", "--format", "json", env=env) for env in ({}, {"DS_ACCELERATOR": "xpu"}))
        self.assertEqual((asked.code, asked.out, asked.err), (0, plain.out, plain.err), asked)

    def test_an_unknown_accelerator(self):
        self.message("accelerator_unknown", code=2, env={"DS_ACCELERATOR": "cudaa"})

    def test_a_variable_of_deepspeed_that_is_not_used(self):
        self.message("ignored_variable", "plan", code=0, env={"DS_EVOFORMER_GPU_ARCH": "80"})

    def test_with_the_cpu_accelerator_all_means_the_cpu_ops(self):
        self.message("accelerator_cpu", "plan", code=0, env={"DS_ACCELERATOR": "cpu"})

    def test_nvcc_flags_must_not_name_an_arch(self):
        flags = "-lineinfo -gencode=arch=compute_75,code=sm_75"
        self.message("nvcc_flags_with_arch", code=2, env={"NVCC_APPEND_FLAGS": flags})

    def test_inspect_wants_a_file_that_is_there(self):
        self.check_alone("inspect_no_file", self.space, "inspect", self.space.root / "absent.so", code=2)

    def test_inspect_of_something_else(self):
        self.check_alone("inspect_text", self.space, "inspect", self.write("notes.txt", "notes\n"), code=1)

    def test_inspect_of_nothing(self):
        self.check_alone("inspect_nothing", self.space, "inspect", code=2)

    def test_verify_of_a_folder_without_manifest(self):
        self.check_alone("verify_no_bundle", self.space, "verify", self.space.pack.folder, code=1)

    def test_toolkits_get_wants_a_version(self):
        self.check_alone("toolkits_get", self.space, "toolkits", "get", code=2)

    def test_toolkits_get_needs_the_network(self):
        self.check_alone("toolkits_offline", self.space, "toolkits", "get", "11.8", "--offline", code=3)
        self.check_alone("toolkits_hip_offline", self.space, "toolkits", "get", "hip", "--offline", code=3)


class CacheTest(CliTest):
    def test_a_cache_folder_that_cannot_be_written(self):
        space = TestSpace(store=True)
        (space.root / "file").write_text("")
        self.check("cache_not_writable", space, "--ops", "host", code=0, env={"XDG_CACHE_HOME": str(space.root / "file")})


class ServiceTest(CliTest):
    def test_a_service_that_nobody_answers_for(self):
        space = TestSpace(steps=True)
        run = self.run_in(space, "--ops", "alpha,beta", "--remote-exec", "reapi://127.0.0.1:1")
        self.assertEqual(run.code, 0, run)
        self.assertEqual(run.err.count("warning[execution_off]: --remote-exec: the rest of this build ran on this machine: "), 1, run)


class ConfigTest(MessageTest):
    def test_an_unknown_preset_names_the_nearest(self):
        self.message("unknown_preset", "--config", "dockr", code=2)

    def test_a_config_file_that_is_not_there(self):
        self.message("no_config_file", "--config", "absent.yaml", code=2)

    def test_an_unknown_key_has_its_position(self):
        self.message("config_unknown_key", "--config", self.write("a.yaml", "strict: true\narhc: 8.0\n"), code=2)

    def test_a_value_of_the_wrong_kind_has_its_position(self):
        self.message("config_bad_value", "--config", self.write("b.yaml", "arch: 8.0\nstrict: maybe\n"), code=2)

    def test_a_list_where_one_value_belongs(self):
        self.message("config_list", "--config", self.write("c.yaml", "pack: [a, b]\n"), code=2)

    def test_text_that_is_not_yaml(self):
        self.message("config_no_yaml", "--config", self.write("d.yaml", "arch: [8.0\njobs: 2\n"), code=2)


class SelectionTest(MessageTest):
    def test_an_unknown_op_names_the_nearest(self):
        self.message("unknown_op", "--ops", "alpa,host", code=2)

    def test_an_unknown_op_like_no_other(self):
        self.message("unknown_op_far", "--ops", "convolution", code=2)

    def test_a_switch_is_on_or_off(self):
        self.message("bad_switch", code=2, env={"DS_BUILD_FUSED_ADAM": "maybe"})

    def test_a_variable_of_no_op_that_is_on(self):
        self.message("unknown_variable_on", code=2, env={"DS_BUILD_FOO": "1"})

    def test_a_variable_of_no_op_that_is_off_is_a_warning(self):
        self.message("unknown_variable_off", "plan", code=0, env={"DS_BUILD_BETTA": "0"})

    def test_a_variable_that_is_off_holds_under_all(self):
        self.message("left_out_by_variable", "plan", code=0, env={"DS_BUILD_BETA": "0"})

    def test_nothing_selected(self):
        self.message("nothing_selected", code=2, without=("--ops", "--pack"))

    def test_an_op_both_named_and_left_out(self):
        self.message("contradicting_ops", "--ops", "alpha,-alpha", code=2)

    def test_everything_left_out(self):
        self.message("all_left_out", "--ops", "all,-alpha,-beta,-gamma,-host", code=2)


class ArchTest(MessageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.archs = TestSpace(pack=archs_pack, steps=True)
        cls.old = TestSpace(version="11.8", steps=True)
        cls.unknown = TestSpace()

    def test_an_unknown_arch_has_its_place(self):
        self.message("unknown_arch", "--arch", "8.0;sm_999", code=2)

    def test_an_arch_name_with_an_error_of_spelling(self):
        self.message("unknown_arch_name", "--arch", "Amper", code=2)

    def test_an_unknown_arch_of_the_environment_names_the_variable(self):
        self.message("unknown_arch_variable", code=2, without=("--arch",),
                     env={"TORCH_CUDA_ARCH_LIST": "7.0 8.5+PTX"})

    def test_an_empty_list(self):
        self.message("empty_arch", "--arch", "", code=2)

    def test_a_blank_variable_counts_as_unset(self):
        self.message("blank_arch_variable", "plan", code=0, without=("--arch",),
                     env={"TORCH_CUDA_ARCH_LIST": "  "})

    def test_native_without_a_gpu(self):
        if pathlib.Path("/dev/nvidiactl").exists():
            self.skipTest("this machine has a GPU")
        self.message("native_without_gpu", "--arch", "native", code=3)

    def test_a_demanded_toolkit_that_lacks_an_arch(self):
        self.message("toolkit_lacks_arch", "--arch", "7.0;8.0+PTX", code=3)

    def test_no_toolkit_has_all_archs_of_deepspeeds_example(self):
        env = {"CUDA_HOME": str(self.space.toolkit.home), "CUDA_PATH": self.other_toolkit("11.8")}
        self.message("no_toolkit_for_all", "--arch", "6.0 6.1 7.0 7.5 8.0 8.6 9.0 10.0+PTX", code=3,
                     without=("--cuda-home",), env=env)

    def other_toolkit(self, version):
        """One more toolkit in the space."""
        home = self.space.root / f"toolkit-{version}"
        testspace.make_fake_toolkit(home, version, steps=True)
        return str(home)

    def test_a_preferred_toolkit_that_is_passed_over(self):
        env = {"CUDA_HOME": str(self.space.toolkit.home), "CUDA_PATH": self.other_toolkit("12.9")}
        self.message("other_toolkit", "plan", "--arch", "7.0", code=0, without=("--cuda-home",), env=env)

    def test_archs_are_dropped_on_demand(self):
        self.message("dropped_archs", "plan", "--arch", "7.0;8.0", "--drop-unsupported-archs", code=0)

    def test_no_compiler_for_intels_gpus(self):
        self.message("no_toolkit_oneapi", "--pack", "native", "--ops", "fused_adam", "--arch", "pvc", code=3)

    def test_a_demanded_folder_that_is_no_toolkit(self):
        self.message("no_toolkit_there", "--cuda-home", self.space.home, code=3)

    def test_an_op_asked_for_by_name_without_an_arch(self):
        self.message("named_op_without_arch", "--ops", "gamma", "--arch", "7.5", code=3)

    def test_no_cuda_op_for_the_request(self):
        self.message("no_cuda_op", "--ops", "all,-alpha,-beta", "--arch", "7.5", code=3)

    def test_a_skipped_op_is_an_error_under_strict(self):
        self.message("strict_plan", "plan", "--arch", "7.5", "--strict", code=3)

    def test_ops_without_a_common_arch(self):
        self.check("disjoint_archs", self.archs, "--ops", "low,high", "--arch", "7.5;9.0", code=3)

    def test_ops_without_a_common_arch_on_demand(self):
        self.check("disjoint_archs_allowed", self.archs, "plan", "--ops", "low,high", "--arch", "7.5;9.0",
                   "--allow-disjoint-archs", code=0)

    def test_a_source_for_9_0a_is_left_out_of_a_9_0_build(self):
        self.check("specialise", self.archs, "plan", "--ops", "split", "--arch", "8.0;9.0", code=0)

    def test_an_op_that_loses_the_only_ptx(self):
        self.check("lost_ptx", self.archs, "plan", "--ops", "split,low", "--arch", "7.5;8.0+PTX", code=0)

    def test_a_compress_mode_that_the_toolkit_does_not_have(self):
        self.check("no_compress_mode", self.old, "plan", "--compress-mode", "size", code=0)

    def test_a_toolkit_whose_steps_are_not_known(self):
        self.check("not_sliced", self.unknown, "plan", code=0)

    def test_slices_are_insisted_on_where_there_can_be_none(self):
        self.check("cannot_slice", self.unknown, "plan", "--backend", "slices", code=3)


class FolderTest(MessageTest):
    def test_a_bundle_folder_that_is_not_ours_stays_untouched(self):
        folder = self.space.root / "precious"
        folder.mkdir()
        (folder / "thesis.txt").write_text("years\n")
        (folder / "manifest.json").write_text("{}\n")
        before = Folder(folder)
        self.message("foreign_out", "--out", folder, code=2)
        self.assertTrue(before.is_untouched())

    def test_a_bundle_folder_that_is_a_file(self):
        self.message("out_is_a_file", "--out", self.write("file", "text\n"), code=2)

    def test_a_build_folder_that_is_not_ours_stays_untouched(self):
        folder = self.space.root / "sources"
        folder.mkdir()
        (folder / "main.cpp").write_text("int main() {}\n")
        before = Folder(folder)
        self.message("foreign_build_dir", "--build-dir", folder, code=2)
        self.check_alone("foreign_clean", self.space, "clean", "--build-dir", folder, code=2)
        self.assertTrue(before.is_untouched())

    def test_a_pack_that_is_not_there(self):
        self.message("no_pack", "--pack", self.space.root / "absent", code=2)


class MachineTest(MessageTest):
    def test_no_compiler_for_nvcc(self):
        empty = options_only(self.space.root / "empty")
        self.message("no_host_compiler", code=3, env={"PATH": str(empty)})

    def test_no_compiler_for_cpu_ops(self):
        empty = options_only(self.space.root / "empty2")
        self.message("no_compiler", "--ops", "host", code=3, env={"PATH": str(empty)})

    def test_a_compiler_that_is_not_there(self):
        self.message("cxx_absent", "--ops", "host", code=3, env={"CXX": str(self.space.root / "g++-99")})

    def test_a_source_that_changes_each_time_it_is_compiled(self):
        """Each is seen in a build of its own otherwise (tests/stale/race_test.py)."""
        compiler = self.write("g++", "#!/bin/sh\ncase \"$*\" in *-c\\ pack/*) echo // >> "
                                              f"{self.space.pack.source('host/host.cpp')};; esac\nexec g++ \"$@\"\n")
        compiler.chmod(0o755)
        self.message("unsettled", "--ops", "host", code=1, env={"CXX": str(compiler)})

    def test_a_source_that_reads_files_that_no_compiler_names(self):
        space = TestSpace(steps=True)
        compiler = space.root / "g++"
        compiler.write_text("#!/bin/sh\n[ \"$1\" = -Wa,--help ] && exit 1\nexec g++ \"$@\"\n")
        compiler.chmod(0o755)
        source = space.pack.source("host/host.cpp")
        (source.parent / "host.bin").write_text("1")
        source.write_text(source.read_text() + 'asm(".data\\n.incbin \\"pack/host/host.bin\\"\\n.text\\n");\n')
        self.check("unnamed_files", space, "--ops", "host", code=0, env={"CXX": str(compiler)})

    def test_a_source_that_has_the_time_of_its_compile(self):
        space = TestSpace(steps=True)
        source = space.pack.source("host/host.cpp")
        source.write_text(source.read_text() + "const char* built = __DATE__;\n")
        self.check("time_of_build", space, "--ops", "host", code=0)

    def test_a_compiler_that_does_not_say_what_it_is_made_of(self):
        self.addCleanup(self.space.toolkit.set, mute=0)
        self.space.toolkit.set(mute=1)
        self.message("tool_does_not_answer", code=3)

    def test_a_compiler_for_nvcc_that_is_not_there(self):
        for name in ("CUDAHOSTCXX", "NVCC_CCBIN"):
            self.message(f"{name.lower()}_absent", code=3, env={name: str(self.space.root / "g++-99")})

    def test_a_compiler_for_nvcc_that_no_op_needs(self):
        run = self.run_in(self.space, "plan", "--ops", "host", env={"CUDAHOSTCXX": "/nothing"})
        self.assertEqual(run.code, 0, run)

    def test_a_ninja_that_is_not_there(self):
        self.message("ninja_absent", "--ops", "host", code=3, env={"DSBUILD_NINJA": str(self.space.root / "ninja-99")})

    def test_a_python_that_is_not_there(self):
        self.message("python_absent", "--python", self.space.root / "python-99", code=3)

    def test_plan_checks_the_folders_as_build_does(self):
        folder = self.space.root / "sources"
        folder.mkdir()
        (folder / "main.cpp").write_text("int main() {}\n")
        for option, code in (("--out", "foreign_out"), ("--cache-dir", "foreign_cache_dir")):
            run = self.run_in(self.space, "plan", option, folder, "--cache-size", "1G")
            self.assertEqual(run.code, 2, run)
            self.assertIn(f"error[{code}]: {folder}", run.err)

    def test_a_program_apart_from_its_packs(self):
        program = self.space.root / "moved" / "dsbuild"
        program.parent.mkdir()
        shutil.copy(os.environ["DSBUILD"], program)
        run = subprocess.run([program, "plan", "--ops", "all"], env=self.space.environment, cwd=self.space.root, capture_output=True,
                             text=True)
        self.assertEqual(run.returncode, 2, run)
        self.assertIn("error[unknown_pack]: --pack: there is no pack 'native', nor any other: no folder above this program holds "
                      "share/dsbuild/ops or ops/native", run.stderr)

    def test_no_ninja(self):
        folder = options_only(self.space.root / "compiler-only", "g++", "as", "ld")
        self.message("no_ninja", "--ops", "host", code=3, env={"PATH": str(folder), "DSBUILD_NINJA": ""})

    def test_a_ninja_that_fails_by_itself(self):
        ninja = self.write("broken-ninja", "#!/bin/sh\n[ \"$1\" = --version ] && exec echo 1.13.2\n"
                                           "echo 'ninja: fatal: loading build.ninja: no memory'\nexit 1\n")
        ninja.chmod(0o755)
        self.check("ninja_failed", self.space, code=1, env={"DSBUILD_NINJA": str(ninja)})

    def test_a_program_alone_has_no_recipe_for_toolkits(self):
        program = self.space.root / "alone" / "dsbuild"
        program.parent.mkdir()
        shutil.copy(self.space.program, program)
        run = self.space.run("toolkits", "get", "11.8", program=program)
        self.expect("no_recipe", self.space, run, 3, ["toolkits", "get", "11.8"])

    def test_a_machine_that_dsbuild_does_not_run_on(self):
        shim = testspace.compile_shim(RISCV, self.space.root / "riscv.so")
        self.check("unsupported_host", self.space, code=3, env={"LD_PRELOAD": shim})

    def test_a_file_system_without_locks(self):
        shim = testspace.compile_shim(NO_LOCKS, self.space.root / "no_locks.so")
        self.check("lock_unsupported", self.space, code=3, env={"LD_PRELOAD": shim})


class SpecTest(CliTest):
    """Each case has a pack of one op, whose op.yaml it breaks."""

    def spec(self, name, text, source="first.cu", second=None):
        def make(folder):
            pack = Pack(folder, "one")
            for op, spec in (("first", text), ("second", second)):
                if spec:
                    pack.add_op(op, {source: kernel(f"{op}_run")})
                    (pack.folder / op / "op.yaml").write_text(spec)
            return pack
        self.check(name, TestSpace(pack=make), code=2)

    def test_broken_yaml(self):
        self.spec("spec_broken", "name: first\nsources: [first.cu\narchs: {min: 7.0}\n")

    def test_an_unknown_key(self):
        self.spec("spec_unknown_key", "name: first\nsuorces: [first.cu]\n")

    def test_a_key_given_twice(self):
        self.spec("spec_twice", "name: first\nsources: [first.cu]\nname: first\n")

    def test_a_missing_source(self):
        self.spec("spec_missing_source", "name: first\nsources:\n  - first.cu\n  - secnd.cu\n")

    def test_a_source_that_lies_in_another_folder(self):
        self.spec("spec_source_elsewhere", "name: first\nsources: [two.cu]\n", source="first/two.cu")

    def test_all_mistakes_of_a_pack_are_said_in_one_run(self):
        self.spec("spec_many", "name: first\nsuorces: [first.cu]\nstd: {cxx: 18}\nflags: {nvcc: [-O9]}\n"
                  "requires: [{cuda: old}]\nexports: [first-run]\n", second="name: second\nsources: [gone.cu]\narchs: {min: high}\n")

    def test_an_export_that_no_source_defines(self):
        for name, spec, text in (("wrong_export", "name: first\nbackend: cpu\nsources: [first.cpp]\nexports: [first_rnu]\n", binding("first_run")),
                                 ("wrong_export_cxx", "name: first\nbackend: cpu\nsources: [first.cpp]\nexports: [scale]\n",
                                  "int scale(float* x) { return x != nullptr; }\n")):
            def make(folder, spec=spec, text=text):
                pack = Pack(folder, "one")
                pack.add_op("first", {"first.cpp": text}, {"backend": "cpu"})
                (pack.folder / "first" / "op.yaml").write_text(spec)
                return pack
            self.check(name, TestSpace(pack=make), code=1)

    def test_a_glob_without_a_match(self):
        self.spec("spec_empty_glob", "name: first\nsources:\n  - glob: 'bwd/*.cu'\n")

    def test_a_source_outside_the_pack(self):
        self.spec("spec_outside", "name: first\nsources: [../../../etc/passwd.cu]\n")

    def test_a_source_with_a_character_of_the_shell(self):
        self.spec("spec_shell_character", "name: first\nsources: ['first$HOME.cu']\n")

    def test_a_flag_that_could_run_something(self):
        self.spec("spec_flag", "name: first\nsources: [first.cu]\nflags: {cxx: [-fplugin=evil.so]}\n")

    def test_a_wrong_type(self):
        self.spec("spec_wrong_type", "name: first\nsources: {first: first.cu}\n")

    def test_an_unknown_arch(self):
        self.spec("spec_unknown_arch", 'name: first\nsources: [first.cu]\narchs: {min: "8.7.1"}\n')


if __name__ == "__main__":
    testspace.main()
