#!/usr/bin/env python3
"""The precompiled torch header and the content store: what its users made is kept, and the header is not precompiled
again for users that are all in the store."""

import hashlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import CliTest, testspace  # noqa: E402
from packs import Pack, binding  # noqa: E402
from torch_test import SOURCE, TorchSpace  # noqa: E402

OPS = [f"op{number}" for number in range(5)]
VALUE = "constexpr int k_of_torch = 1;\n"


def make_pack(folder):
    pack = Pack(folder, "users")
    for op in OPS:
        pack.add_op(op, {f"{op}.cpp": SOURCE + binding(f"{op}_run") + f"int {op}_value() {{ return k_of_torch; }}\n"},
                    {"module": f"pkg.{op}", "backend": "cpu", "requires": [{"torch": ">=2.0"}]})
    return pack


class PrecompiledTest(CliTest):
    def setUp(self):
        self.first = TorchSpace(pack=make_pack)
        self.header().write_text(self.header().read_text() + VALUE)
        self.use(self.first)

    def header(self):
        return next(self.first.torch.home.rglob("torch/extension.h"))

    def use(self, space):
        """All spaces share a torch and a store."""
        self.space = space
        space.torch = self.first.torch
        space.environment.update(DSBUILD_CACHE_SIZE="1G", DSBUILD_CACHE_DIR=str(self.first.root / "store"))

    def built(self, *more):
        run = self.space.build("--ops", "all", *more)
        self.assertEqual(run.code, 0, run)
        return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in self.space.out.rglob("*.so")}

    def precompiled_bytes(self):
        return sum(file.stat().st_size for file in self.space.build_dir.glob("pch/*/torch.h.gch"))

    def test_another_checkout_takes_everything_and_precompiles_nothing(self):
        libraries = self.built("--pch", "on")
        self.assertGreater(self.precompiled_bytes(), 0)
        self.use(TorchSpace(pack=make_pack))
        self.assertEqual(self.built("--pch", "on"), libraries)
        self.assertEqual(self.precompiled_bytes(), 0)

    def test_a_comment_is_compiled_as_any_edit_and_gives_the_same(self):
        libraries = self.built("--pch", "on")
        self.use(TorchSpace(pack=make_pack))
        source = self.space.pack.source("op0.cpp")
        source.write_text(source.read_text() + "// the end\n")
        self.assertEqual(self.built("--pch", "on"), libraries)
        self.assertGreater(self.precompiled_bytes(), 0)

    def test_one_new_user_is_enough_where_it_is_asked_for(self):
        self.built("--pch", "on")
        self.use(TorchSpace(pack=make_pack))
        source = self.space.pack.source("op0.cpp")
        source.write_text(source.read_text() + "int more() { return 1; }\n")
        self.built("--pch", "on")
        self.assertGreater(self.precompiled_bytes(), 0)

    def test_a_header_of_torch_that_changed_is_not_stale(self):
        libraries = self.built("--pch", "on")
        self.header().write_text(self.header().read_text().replace("= 1", "= 2"))
        self.use(TorchSpace(pack=make_pack))
        changed = self.built("--pch", "on")
        self.assertGreater(self.precompiled_bytes(), 0)
        self.assertEqual(len(changed), len(OPS))
        for name, digest in changed.items():
            self.assertNotEqual(libraries[name], digest)
        self.space.remove_build()
        self.assertEqual(self.built("--pch", "off"), changed)

    def test_objects_made_without_the_header_serve_builds_with_it(self):
        libraries = self.built("--pch", "off")
        self.use(TorchSpace(pack=make_pack))
        self.assertEqual(self.built("--pch", "on"), libraries)
        self.assertEqual(self.precompiled_bytes(), 0)


if __name__ == "__main__":
    testspace.main()
