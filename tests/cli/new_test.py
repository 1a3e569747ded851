#!/usr/bin/env python3
"""dsbuild new: an op that builds and passes its own test, under a name that is checked, over nothing that is there.
(The CPU's is built by first_op_test.py.)"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, Folder, TestSpace, testspace  # noqa: E402
from pages import type_line, use_python  # noqa: E402


class BuiltTest(CliTest):
    def test_the_cuda_op_builds_and_passes_its_own_test(self):
        space = TestSpace()
        use_python(space)
        testspace.copy_facts(space.cache_folder())
        env = {"CUDA_HOME": testspace.find_real_toolkit(), "TORCH_CUDA_ARCH_LIST": "8.0"}
        code, text = type_line(space, "dsbuild new int", **env)  # a word of C++, like any other
        self.assertEqual(code, 0, text)
        next_line = text.splitlines()[-1].removeprefix("next: ")
        code, text = type_line(space, next_line, **env)
        self.assertEqual(code, 0, text)
        self.assertRegex(text, r"Ran 3 tests in .*\n\nOK( \(skipped=1\))?\n$")
        if not pathlib.Path("/dev/nvidiactl").exists():
            _, text = type_line(space, "python3 mypack/int/test_int.py -v")
            self.assertIn("skipped 'there is no NVIDIA GPU here'", text)


class NewTest(CliTest):
    def setUp(self):
        self.space = TestSpace()

    def files_below(self, folder):
        return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())

    def new(self, *words):
        run = self.space.run("new", *words)
        self.assertEqual((run.code, run.err), (0, ""), run)
        return run

    def test_a_cuda_op_is_five_files_of_its_name_and_the_schema(self):
        self.new("scale")
        pack = self.space.root / "mypack"
        self.assertEqual(self.files_below(pack), ["op.schema.json", "scale/op.yaml", "scale/scale.cu", "scale/scale.h",
                                                  "scale/scale_binding.cpp", "scale/test_scale.py"])
        for file in pack.rglob("*.*"):
            self.assertNotIn("my_op", file.read_text(), file)

    def test_a_cpu_op_is_three_files(self):
        self.new("scale", "--backend", "cpu", "--pack", "./other")
        self.assertEqual(self.files_below(self.space.root / "other"),
                         ["op.schema.json", "scale/op.yaml", "scale/scale.cpp", "scale/test_scale.py"])

    def test_every_file_written_is_named(self):
        lines = self.new("scale").out.splitlines()
        self.assertEqual(sorted(line.removeprefix("wrote mypack/") for line in lines[:-1]),
                         self.files_below(self.space.root / "mypack"))
        self.assertEqual(lines[-1], "next: dsbuild --pack mypack --ops scale && python3 mypack/scale/test_scale.py")

    def test_sources_go_to_the_packs_source_root(self):
        use_python(self.space)
        self.new("delta", "--pack", str(self.space.pack.folder))
        self.assertTrue((self.space.pack.sources / "delta" / "delta.cu").exists())
        self.assertTrue((self.space.pack.folder / "delta" / "op.yaml").exists())
        plan = self.run_in(self.space, "plan", "--ops", "delta,alpha", "--format", "flags")
        self.assertEqual(plan.code, 0, plan)

    def test_what_is_there_stays_as_it_is(self):
        folder = self.space.root / "mypack" / "scale"
        folder.mkdir(parents=True)
        (folder / "scale_binding.cpp").write_text("// mine\n")
        before = Folder(self.space.root / "mypack")
        self.check_alone("new_file_exists", self.space, "new", "scale", code=2)
        self.assertTrue(before.is_untouched())

    def test_the_name_is_checked(self):
        self.check_alone("new_bad_name", self.space, "new", "Fused-Scale", code=2)
        self.check_alone("new_taken_name", self.space, "new", "ops", code=2)
        self.check_alone("new_without_name", self.space, "new", code=2)
        self.assertFalse((self.space.root / "mypack").exists())

    def test_an_unknown_backend(self):
        self.check_alone("new_backend", self.space, "new", "scale", "--backend", "hip", code=2)

    def test_dsbuilds_own_packs_are_left_alone(self):
        self.check_alone("new_own_pack", self.space, "new", "scale", "--pack", "native", code=2)

    def test_a_folder_of_one_op_is_no_place_for_another(self):
        self.new("scale")
        self.check_alone("new_in_an_op", self.space, "new", "other", "--pack", "mypack/scale", code=2)


if __name__ == "__main__":
    testspace.main()
