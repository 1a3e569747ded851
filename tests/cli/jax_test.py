#!/usr/bin/env python3
"""How dsbuild.jax calls a native op, on the CPU with an op of `dsbuild new`: results, jax.jit, what is refused by name.
DSBUILD_JAX_PYTHON names a Python with jax, jax-tvm-ffi and NumPy. On a GPU: tests/gpu/test_frameworks.py."""

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cli import REPOSITORY, CliTest, TestSpace, testspace  # noqa: E402
from pages import find_python  # noqa: E402

PROGRAM = """
import json
import jax, jax.numpy as jnp, tvm_ffi
import dsbuild._jax_call as calls, dsbuild.jax
module = tvm_ffi.load_module({library!r})
calls.load = lambda op: module

def twice(x, alpha):
    return calls.call("twice", "twice_forward", "cpu", dict(x=x), [(x.shape, x.dtype)], 1, alpha=alpha)

def refusal(call):
    try:
        call()
    except Exception as error:
        return f"{{type(error).__name__}}: {{error}}"

x = jnp.arange(5, dtype=jnp.float32)
print(json.dumps({{
    "eager": twice(x, 2.0).tolist(),
    "jit": jax.jit(lambda v: twice(v, 3.0) + 1)(x).tolist(),
    "none": refusal(lambda: calls.call("twice", "twice_forward", "cpu", dict(x=None), [], 1)),
    "in place": refusal(lambda: dsbuild.jax.cpu_adam_step([x])),
    "wrong": refusal(lambda: twice(x.astype(jnp.int32), 2.0).tolist())}}))
"""


class JaxTest(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.interpreter = os.environ.get("DSBUILD_JAX_PYTHON", "")
        if not os.access(cls.interpreter, os.X_OK):
            testspace.skip("DSBUILD_JAX_PYTHON is not set (a Python with jax and jax-tvm-ffi)")
        cls.space = TestSpace(store=True)
        _, cls.home = find_python()
        pack = str(cls.space.root / "jaxpack")
        for words in (("new", "twice", "--backend", "cpu", "--pack", pack), ("--pack", pack, "--ops", "twice")):
            run = cls.space.run(*words, env={"TVM_FFI_HOME": cls.home})
            assert run.code == 0, run

    def test_calls(self):
        program = PROGRAM.format(library=str(self.space.root / "dsbuild-out" / "twice.so"))
        run = subprocess.run([self.interpreter, "-B", "-c", program], capture_output=True, text=True, check=False, env={
            **os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(REPOSITORY / "python")})
        self.assertEqual(run.returncode, 0, run.stderr)
        said = json.loads(run.stdout)
        self.assertEqual(said["eager"], [0, 2, 4, 6, 8])
        self.assertEqual(said["jit"], [1, 4, 7, 10, 13])
        self.assertIn("dsbuild.jax.twice_forward: x: None is not taken here", said["none"])
        self.assertIn("dsbuild.jax.cpu_adam_step: it changes params, exp_avgs, exp_avg_sqs", said["in place"])
        self.assertIn("twice_forward: x: expected float32", said["wrong"])


if __name__ == "__main__":
    testspace.main()
