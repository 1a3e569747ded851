"""Small packs of ops for tests that build with the fake toolkit."""

import json
import pathlib


class Pack:
    """A folder of op specs with its sources beside them in src/."""

    def __init__(self, folder, name="small"):
        self.folder = pathlib.Path(folder)
        self.sources = self.folder / "src"
        self.sources.mkdir(parents=True)
        (self.folder / "pack.yaml").write_text(f"name: {name}\nsource_root: src\n")

    def add_op(self, name, sources, keys=None):
        """`sources`: {path: text}; `keys`: of op.yaml. Names that are no UTF-8 are written as they are."""
        for path, text in sources.items():
            file = self.sources / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        spec = {"name": name, "sources": list(sources), **(keys or {})}
        (self.folder / name).mkdir()
        text = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in spec.items())
        (self.folder / name / "op.yaml").write_text(text, encoding="utf-8", errors="surrogateescape")

    def source(self, path):
        return self.sources / path

    def set_version(self, version):
        """Of its sources; a pack that has one has a licence, too."""
        (self.folder / "pack.yaml").write_text(f"name: small\nsource_root: src\nlicense: MIT\nversion: {version}\n")


def kernel(*functions, text=""):
    """A .cu whose object defines these functions."""
    return "".join(f"// export: {name}\n" for name in functions) + text


def binding(function, *called):
    """A .cpp that defines `function`, which calls the others."""
    declared = "".join(f"void {name}();\n" for name in called)
    calls = " ".join(f"{name}();" for name in called)
    return f'extern "C" {{\n{declared}int {function}() {{ {calls} return 1; }}\n}}\n'


def make_pack(folder):
    """alpha takes every arch, beta from 7.0, gamma from 8.0; host has no device code. Five .cu, three .cpp."""
    pack = Pack(folder)
    pack.add_op("alpha", {"alpha/alpha.cu": kernel("alpha_kernel", text='#include "shared.h"\n'),
                          "alpha/alpha.cpp": binding("alpha_run", "alpha_kernel")},
                {"exports": ["alpha_run"]})
    pack.add_op("beta", {"beta/one.cu": kernel("beta_one"), "beta/two.cu": kernel("beta_two"),
                         "beta/beta.cpp": binding("beta_run", "beta_one", "beta_two")},
                {"archs": {"min": "7.0"}, "exports": ["beta_run"]})
    pack.add_op("gamma", {"gamma/one.cu": kernel("gamma_run"), "gamma/two.cu": kernel("gamma_more")},
                {"archs": {"min": "8.0"}, "exports": ["gamma_run", "gamma_more"]})
    pack.add_op("host", {"host/host.cpp": binding("host_run")}, {"backend": "cpu", "exports": ["host_run"]})
    pack.source("alpha/shared.h").write_text("// what alpha.cu includes\n")
    return pack


def make_versioned_pack(folder):
    """The same in its second version."""
    pack = make_pack(folder)
    pack.set_version("2.0.0")
    return pack
