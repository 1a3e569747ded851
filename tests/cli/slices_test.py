#!/usr/bin/env python3
"""Slices with a real nvcc, by default: its images are those of whole nvcc commands, and each edit makes anew what it
touches and nothing else. What was made is read from the keys that parts leave behind when their tools have run."""

import itertools
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import testspace  # noqa: E402
from sliced import INNER, PLAIN, SIZES, SPELLED, SlicesTest, make_space  # noqa: E402
from cuobjdump import find_cuobjdump, list_images  # noqa: E402

@testspace.deep_but("test_images_are_those_of_nvcc_byte_for_byte", "test_an_edge_prints_its_commands_and_makes_the_same_again")
class ImagesTest(SlicesTest):
    def test_images_are_those_of_nvcc_byte_for_byte(self):
        self.built()
        sliced = self.images("plain.cu")
        self.space.remove_build()
        self.built("--backend", "nvcc")
        self.assertGreater(len(sliced), 1000)
        self.assertEqual(sliced, self.images("plain.cu"))

    def test_the_library_holds_what_was_asked_for(self):
        self.built()
        if find_cuobjdump() is None:
            self.skipTest("no cuobjdump")
        self.assertEqual(sorted(set(list_images(self.space.out / "scaling.so"))), [("elf", "sm_80"), ("elf", "sm_90"), ("ptx", "sm_90")])

    def test_objects_are_the_same_in_another_folder(self):
        self.built(ops="inner")
        mine = {end: self.object("inner.cu", end).read_bytes() for end in (".o", ".host.o")}
        self.space = make_space("elsewhere")
        self.built(ops="inner")
        for end, content in mine.items():
            self.assertEqual(content, self.object("inner.cu", end).read_bytes(), end)

    def test_an_edge_prints_its_commands_and_makes_the_same_again(self):
        self.built(ops="inner")
        output = self.object("inner.cu", ".compute_80.cubin")
        record = pathlib.Path(f"{output}.record").read_text()
        words = next(line for line in record.splitlines() if line.startswith("key.command ")).split(" ")[1:]
        before = output.read_bytes()
        output.write_bytes(b"damaged")
        run = self.space.run("action", "--print", *words, cwd=self.space.build_dir)
        self.assertEqual(run.code, 0, run)
        lines = run.out.splitlines()
        for line, tool in zip(lines, ("g++", "cicc", "ptxas"), strict=True):
            self.assertIn(tool, line)
        self.assertTrue(all(line.startswith("cd ") for line in lines[1:]), lines)
        self.assertIn("-arch=sm_80", lines[2])
        self.assertEqual(output.read_bytes(), before)
        self.assertEqual(self.built(ops="inner").edges_run(), 0)

    def test_other_toolkits(self):
        for version in ("11.8", "12.4"):
            with self.subTest(version):
                self.use_toolkit(version)
                self.space.remove_build()
                self.built()
                sliced = self.images("plain.cu")
                self.space.remove_build()
                self.built("--backend", "nvcc")
                self.assertEqual(sliced, self.images("plain.cu"))


@testspace.deep_but("test_code_of_one_arch_makes_its_slice_alone")
class EditsTest(SlicesTest):
    def setUp(self):
        super().setUp()
        self.built()

    def test_nothing_to_do_runs_nothing(self):
        self.assertEqual(self.built().edges_run(), 0)

    def test_a_touch_and_a_comment_stop_behind_the_preprocessor(self):
        file = self.space.pack.source("plain.cu")
        self.assertEqual(self.made_by(file.touch), set())
        self.assertEqual(self.made_by(lambda: file.write_text(file.read_text() + "// the end\n")), set())
        self.assertEqual(self.made_by(self.edit("// newest", "/* the newest */")), set())
        self.assertEqual(self.made_by(self.space.pack.source("sizes.h").touch), set())
        self.assertEqual(self.built().edges_run(), 0)

    def test_code_of_one_arch_makes_its_slice_alone(self):
        self.assertEqual(self.made_by(self.edit("k_by + 7", "k_by + 8")), {"compute_90"})

    def test_device_code_of_all_archs_compiles_nothing_for_the_host(self):
        file = self.space.pack.source("plain.cu")
        text = file.read_text()
        both = lambda: file.write_text(text.replace("data[threadIdx.x] *=", "data[threadIdx.x] +="))  # noqa: E731
        self.assertEqual(self.made_by(both) - {"front"}, {"compute_80", "compute_90"})

    def test_host_code_makes_no_image(self):
        images = self.object("plain.cu", ".compute_80.cubin")
        before = images.stat().st_mtime_ns
        self.assertIn("host", self.made_by(self.edit("<<<1, 32>>>", "<<<1, 64>>>")))
        self.assertEqual(images.stat().st_mtime_ns, before)

    def test_code_that_only_the_host_sees_is_never_stale(self):
        self.assertEqual(self.made_by(self.edit("return 32", "return 33")), {"front", "host"})

    def test_a_header_reaches_every_part_that_sees_it(self):
        made = self.made_by(lambda: self.space.pack.source("sizes.h").write_text(SIZES.replace("2", "3")))
        self.assertLessEqual({"compute_80"}, made)
        self.assertIn("front", made)

    def test_a_source_that_changes_under_an_old_time_is_not_stale(self):
        file = self.space.pack.source("plain.cu")
        times = (file.stat().st_atime_ns, file.stat().st_mtime_ns)
        change = self.edit("k_by + 7", "k_by + 9")
        self.assertEqual(self.made_by(lambda: (change(), os.utime(file, ns=times))), {"compute_90"})

    def test_a_macro_of_the_environment_is_not_stale(self):
        file = self.space.pack.source("plain.cu")
        file.write_text(file.read_text() + "#ifdef MORE\nextern \"C\" int more() { return MORE; }\n#endif\n")
        self.built()
        self.space.environment["NVCC_APPEND_FLAGS"] = "-DMORE=1"
        self.assertIn("host", self.made_by(lambda: None))
        self.assertIn(b"more", (self.space.out / "scaling.so").read_bytes())

    def test_an_arch_more_makes_its_slice_and_nothing_for_the_host(self):
        self.space.arch = "8.0;9.0+PTX;10.0"
        self.assertEqual(self.made_by(lambda: None), {"compute_100"})
        self.space.arch = "8.0"
        self.assertEqual(self.made_by(lambda: None), set())

    def test_an_arch_less_leaves_nothing_of_it(self):
        self.assertTrue(self.object("plain.cu", ".compute_90.ptx").exists())
        self.space.arch = "8.0;10.0"
        self.built()
        archs = {name.name.split(".")[1] for name in self.object("plain.cu").parent.glob("plain.compute_*")}
        self.assertEqual(archs, {"compute_80", "compute_100"})

    def test_code_that_reads_the_list_of_archs_gets_the_new_one(self):
        self.built(ops="listing")
        self.space.arch = "8.0;10.0"
        made = self.made_by(lambda: None, source="listed.cu", ops="listing")
        self.assertLessEqual({"front", "host", "compute_100"}, made)
        self.assertIn(b"800,1000\0", (self.space.out / "listing.so").read_bytes())

    def test_a_lost_file_is_made_again(self):
        lost = self.object("plain.cu", ".compute_80.cubin")
        before = lost.read_bytes()
        lost.unlink()
        self.assertIn("plain.cu [compute_80]", self.built().err)
        self.assertEqual(lost.read_bytes(), before)
        self.assertEqual(self.built().edges_run(), 0)

    def test_a_failing_part_says_where_and_how_to_see_it_with_nvcc_alone(self):
        file = self.space.pack.source("plain.cu")
        file.write_text(file.read_text().replace("// newest", "; static_assert(false, \"no 9.0\");"))
        run = self.space.build("--ops", "scaling")
        self.assertEqual(run.code, 1, run)
        self.assertIn("no 9.0", run.err)
        self.assertIn("plain.cu [compute_90]", run.err)
        log = next((self.space.build_dir / "log").glob("*compute_90*")).read_text()
        command = re.search(r"the same with nvcc alone: (.*)", log).group(1)
        self.assertIn("code=sm_90", command)
        again = testspace.subprocess.run(command, shell=True, cwd=self.space.build_dir, capture_output=True, text=True)
        self.assertNotEqual(again.returncode, 0)
        self.assertIn("no 9.0", again.stderr)


@testspace.deep_but("test_an_arch_more_compiles_that_arch_alone")
class ListNamesTest(SlicesTest):
    """Code whose names have the list of archs in them, as CUB's and Thrust's have; with a store."""

    def setUp(self):
        super().setUp()
        self.space.environment["DSBUILD_CACHE_SIZE"] = "1G"

    def built_as_nvcc_does(self, ops, source):
        self.built(ops=ops)
        sliced = self.images(source)
        space, self.space = self.space, make_space("whole")
        self.space.arch = space.arch
        self.space.toolkit.home = space.toolkit.home
        self.built("--backend", "nvcc", ops=ops)
        self.assertGreater(len(sliced), 1000)
        self.assertEqual(sliced, self.images(source))
        self.space = space

    def test_an_arch_more_compiles_that_arch_alone(self):
        runs = self.count_cicc()
        self.built(ops="naming")
        before = runs()
        self.assertGreaterEqual(before, 2)
        self.space.arch = "8.0;9.0+PTX;10.0"
        self.built_as_nvcc_does("naming", "named.cu")
        self.assertEqual(runs() - before, 1)
        self.assertIn(b"THRUST_300001_SM_800_900_1000_NS", self.images("named.cu"))
        self.space.arch = "8.0;10.0"
        self.built_as_nvcc_does("naming", "named.cu")
        self.assertEqual(runs() - before, 1)

    def test_the_host_calls_kernels_by_the_names_that_images_have(self):
        self.space.arch = "8.0"
        self.built(ops="naming")
        self.space.arch = "8.0;9.0"
        self.built("--verify-against-nvcc", ops="naming")
        self.assertNotIn(b"_0000", (self.space.out / "naming.so").read_bytes())

    def test_a_name_that_is_spelled_is_that_of_the_list(self):
        for how in SPELLED:
            for arch, name in (("8.0", b"SM_800_NS"), ("8.0;9.0", b"SM_800_900_NS")):
                with self.subTest(how=how, arch=arch):
                    self.space.arch = arch
                    self.built_as_nvcc_does(f"spelling_{how}", f"{how}.cu")
                    self.assertIn(name, self.images(f"{how}.cu"))

    # Of files whose PTX has a name in .debug_str, and one in front of the code of a line.
    LINED = "lined,lined_behind"

    def test_line_information(self):
        runs = self.count_cicc()
        self.space.arch = "8.0+PTX;9.0"
        self.built(ops=self.LINED)
        before = runs()
        self.space.arch = "8.0+PTX;9.0;10.0"
        self.built(ops="lined")
        self.assertEqual(runs() - before, 1)
        self.assertIn("compared 2 files: the same as nvcc's\n", self.built("--verify-against-nvcc", ops=self.LINED).out)

    def test_line_information_of_cuda_11_8(self):
        self.use_toolkit_11_8()
        for arch in ("7.0+PTX", "7.0;8.0+PTX"):
            self.space.arch = arch
            self.assertIn("compared 2 files: the same as nvcc's\n", self.built("--verify-against-nvcc", ops=self.LINED).out)

    def test_other_toolkits(self):
        self.use_toolkit_11_8()
        self.space.arch = "8.0"
        self.built(ops="naming")
        self.space.arch = "8.0;9.0"
        self.built_as_nvcc_does("naming", "named.cu")


@testspace.deep_but("test_lines_that_move_are_not_stale")
class LineInformationTest(SlicesTest):
    """What --debug adds: lines of device code, and the host's debug information."""

    def debug_lines(self, *command):
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    def check_lines_are_those_of_the_source(self):
        """PTX names the files, free of the build folder; the image and the host's object too."""
        ptx = next(self.object("plain.cu").parent.glob("*.ptx")).read_text()
        files = dict(re.findall(r'\.file\s+(\d+) "([^"]*)"', ptx))
        self.assertIn("/dsbuild/pack/plain.cu", files.values())
        lines = (self.space.pack.source("plain.cu").read_text()).splitlines()
        shown = {lines[int(line) - 1] for file, line in re.findall(r"\.loc\s+(\d+) (\d+) ", ptx)
                 if files[file] == "/dsbuild/pack/plain.cu"}
        self.assertTrue(any("data[threadIdx.x] *=" in line for line in shown), shown)
        image = next(self.object("plain.cu").parent.glob("*.cubin")).read_bytes()
        self.assertIn(b"/dsbuild/pack\0", image)
        host = self.debug_lines("readelf", "--debug-dump=info", self.object("plain.cu", ".host.o"))
        self.assertRegex(host, r"DW_AT_comp_dir.*: /dsbuild\n")
        for content in (image, self.object("plain.cu", ".host.o").read_bytes()):
            self.assertNotIn(str(self.space.root).encode(), content)

    def check_objects_and_nvccs(self):
        self.assertIn("compared 1 file: the same as nvcc's\n", self.built("--debug", "--verify-against-nvcc").out)
        self.check_lines_are_those_of_the_source()
        mine = [self.object("plain.cu", end).read_bytes() for end in (".o", ".host.o")]
        arch, toolkit = self.space.arch, self.space.toolkit.home
        self.space = make_space("elsewhere")
        self.space.arch, self.space.toolkit.home = arch, toolkit
        self.built("--debug")
        self.assertEqual(mine, [self.object("plain.cu", end).read_bytes() for end in (".o", ".host.o")])

    def test_objects_are_the_same_in_every_folder_and_as_nvcc_makes_them(self):
        self.check_objects_and_nvccs()

    def test_objects_are_the_same_with_cuda_11_8(self):
        self.use_toolkit_11_8()
        self.check_objects_and_nvccs()

    def test_lines_that_move_are_not_stale(self):
        self.built("--debug")
        file = self.space.pack.source("plain.cu")
        before = self.keys("plain.cu")
        file.write_text("// a line more\n" + file.read_text())
        self.built("--debug")
        after = self.keys("plain.cu")
        self.assertEqual({part for part in after if after[part] != before[part]}, {"front", "host", "compute_80", "compute_90"})
        self.check_lines_are_those_of_the_source()


@testspace.deep_but("test_one_that_changes_makes_anew_what_read_it")
class HeadersOfOthersTest(SlicesTest):
    """Headers of toolkits, packages and the system: none is stale."""

    PARTS = {"compute_80", "compute_90"}

    def setUp(self):
        super().setUp()
        self.folder = self.space.root / "others" / "include"
        self.folder.mkdir(parents=True)
        self.header = self.folder / "others.h"
        self.write(2)
        self.space.environment["NVCC_APPEND_FLAGS"] = f"-isystem {self.folder}"
        self.space.pack.add_op("using", {"using.cu": '#include <others.h>\n' + INNER.replace("+ counter", "+ k_others + counter")})
        self.built(ops="using,inner")

    def write(self, number, seconds=1_000_000_000):
        """With a time long past, as packages have it."""
        self.header.write_text(f"constexpr int k_others = {number};\n")
        os.utime(self.header, (seconds, seconds))

    def edges_of_next_build(self):
        return self.built(ops="using,inner").edges_run()

    def test_one_that_changes_makes_anew_what_read_it(self):
        for change in (lambda: self.write(3, seconds=1_000_000_001), lambda: self.write(4, seconds=999_999_999)):
            inner = self.keys("inner.cu")
            self.assertLessEqual(self.PARTS, self.made_by(change, source="using.cu", ops="using,inner"))
            self.assertEqual(self.keys("inner.cu"), inner)
            self.assertEqual(self.edges_of_next_build(), 0)

    def test_one_that_is_lost_fails_the_build_and_one_that_is_back_mends_it(self):
        self.header.unlink()
        run = self.space.build("--ops", "using,inner", "--backend", "slices")
        self.assertEqual(run.code, 1, run)
        self.assertIn("others.h", run.err)
        self.write(2)
        self.built(ops="using,inner")

    def test_an_edge_that_was_not_asked_for_sees_the_change_later(self):
        self.write(3, seconds=999_999_999)
        self.built(ops="inner")
        self.assertLessEqual(self.PARTS, self.made_by(lambda: None, source="using.cu", ops="using,inner"))


class SharedTest(SlicesTest):
    def test_a_part_that_two_ops_share_is_made_once_and_bytes_are_those_of_each_alone(self):
        pack = self.space.pack
        for op, value in (("first", 1), ("second", 2)):
            pack.add_op(op, {"shared.cu": PLAIN.replace("<<<1, 32>>>", "<<<1, WIDTH>>>")}, {"defines": {"WIDTH": value}})
        self.built(ops="second")
        alone = (self.space.out / "second.so").read_bytes()
        self.space.remove_build()
        self.built(ops="first,second")
        self.assertEqual((self.space.out / "second.so").read_bytes(), alone)
        self.assertEqual(self.built(ops="first,second").edges_run(), 0)


class DeviceLinkTest(SlicesTest):
    """Of an op with -rdc=true: device code of one source calls that of another."""

    CALLER = """
extern __device__ float twice(float x);
__global__ void scale(float* data) { data[threadIdx.x] = twice(data[threadIdx.x]); }
extern "C" void linked_run(float* data) { scale<<<1, 32>>>(data); }
"""
    CALLED = "__device__ float twice(float x) { return x * 2; }\n"

    def add_linked(self):
        self.space.pack.add_op("linked", {"caller.cu": self.CALLER, "called.cu": self.CALLED},
                               {"flags": {"nvcc": ["-rdc=true"]}, "exports": ["linked_run"]})

    def test_it_is_linked_for_each_arch(self):
        self.add_linked()
        run = self.space.build("--ops", "linked")
        self.assertEqual(run.code, 0, run)
        self.assertIn("2 files compiled by whole nvcc commands: has -rdc=true", run.err)
        self.assertIn("9.0-virtual (op: -rdc=true links no PTX)", run.err)
        library = self.space.out / "linked.so"
        self.assertEqual(sorted(set(list_images(library))), [("elf", "sm_80"), ("elf", "sm_90")])
        first = library.read_bytes()
        self.assertEqual(self.space.build("--ops", "linked").edges_run(), 0)
        called = self.space.pack.source("called.cu")
        called.write_text(self.CALLED.replace("* 2", "* 3"))
        self.assertIn("link linked [device code]", self.space.build("--ops", "linked").err)
        self.assertNotEqual(library.read_bytes(), first)
        called.write_text(self.CALLED)
        self.space.remove_build()
        self.assertEqual(self.space.build("--ops", "linked").code, 0)
        self.assertEqual(library.read_bytes(), first)
        run = self.space.run("verify", str(self.space.out))
        self.assertEqual(run.code, 0, run)
        inspected = self.space.run("inspect", str(self.space.out), "--gpu", "10.0")
        self.assertIn("will not run", inspected.out)

    def test_a_function_that_no_source_has_fails_at_the_link(self):
        self.add_linked()
        self.space.pack.source("called.cu").write_text("__global__ void nothing() {}\n")
        run = self.space.build("--ops", "linked")
        self.assertEqual(run.code, 1, run)
        self.assertIn("Undefined reference to '_Z5twicef'", run.err)
        self.assertIn("failed: link linked [device code]", run.err)


@testspace.deep_but("test_slices_that_are_not_what_nvcc_makes")
class RefusalTest(SlicesTest):
    """What cannot be sliced is compiled by nvcc, and one line says why."""

    def setUp(self):
        super().setUp()
        self.space.environment["XDG_CACHE_HOME"] = str(self.space.root / "cache")

    def built_whole(self, reason):
        run = self.space.build("--ops", "scaling")
        self.assertEqual(run.code, 0, run)
        self.assertEqual(run.err.count("not_sliced"), 1, run)
        self.assertIn(reason, run.err)
        self.assertNotIn("action slice", (self.space.build_dir / "build.ninja").read_text())
        plan = self.space.run(*self.space.arguments("plan", "--ops", "scaling"))
        self.assertIn(reason, plan.err, "as the build found it")
        insisted = self.space.run(*self.space.arguments("plan", "--ops", "scaling", "--backend", "slices"))
        self.assertEqual(insisted.code, 3, insisted)
        self.assertIn("error[cannot_slice]: --backend: 1 file cannot be sliced: ", insisted.err)
        self.assertIn(reason, insisted.err)

    def test_device_code_for_debuggers(self):
        self.space.environment["NVCC_APPEND_FLAGS"] = "-G"
        self.built_whole("has --debug_mode")

    def test_a_dry_run_with_an_unknown_step(self):
        self.wrap_nvcc('REAL "$@"; code=$?; [[ " $* " == *" --dryrun "* ]] && echo "#\\$ newtool --do it" >&2; exit $code\n')
        self.built_whole("newtool --do it")

    def test_slices_that_are_not_what_nvcc_makes(self):
        self.wrap_nvcc('if [[ " $* " == *" --dryrun "* ]]; then REAL "$@" 2>&1 | /usr/bin/sed "s/ptxas -arch/ptxas -O0 -arch/" >&2\n'
                       'else REAL "$@"; fi\n')
        self.built_whole("its device images of sm_")

    def test_host_code_that_is_not_what_nvcc_makes(self):
        self.wrap_nvcc('if [[ " $* " == *" --dryrun "* ]]; then REAL "$@" 2>&1 | /usr/bin/sed "/ -c -x c++/s/-O3/-O0/" >&2\n'
                       'else REAL "$@"; fi\n')
        self.built_whole("host code differs from nvcc's")


class ConflictTest(SlicesTest):
    def test_lists_are_refused_that_nvcc_refuses(self):
        """All pairs of what there is of an arch and of its neighbour; nvcc needs no time for a dry run."""
        archs = [cc + more for cc in ("12.0", "12.1") for more in ("", "-virtual", "a", "a-virtual", "f", "f-virtual")] + ["9.0", "9.0a"]
        refused = []
        for pair in itertools.combinations(archs, 2):
            flags = []
            for digits, is_virtual in ((arch.removesuffix("-virtual").replace(".", ""), "-virtual" in arch) for arch in pair):
                flags.append(f"-gencode=arch=compute_{digits},code={'compute' if is_virtual else 'sm'}_{digits}")
            nvcc = subprocess.run([str(self.space.toolkit.home / "bin" / "nvcc"), "--dryrun", "-c", "any.cu", *flags],
                                  capture_output=True, text=True, check=False)
            run = self.space.run("plan", *self.space.arguments("--ops", "scaling", "--arch", ";".join(pair), "--allow-disjoint-archs"))
            self.assertEqual("The same GPU code" in nvcc.stderr, "error[conflicting_archs]" in run.err, (pair, nvcc.stderr, run))
            refused += [pair] * ("conflicting_archs" in run.err)
        self.assertEqual(refused, [("12.0", "12.0f"), ("12.1", "12.1f")])


del SlicesTest  # what the others share is no test

if __name__ == "__main__":
    testspace.main(each_commit=3)
