"""Calls of native ops for JAX, by its foreign function interface and jax-tvm-ffi."""

import functools

import jax
import jax.numpy as jnp
import jax_tvm_ffi
import numpy

from ._loader import load

_PLATFORMS = {"cuda": "gpu", "cpu": "cpu"}  # of the backends
_SCALARS = {bool: numpy.bool_, int: numpy.int64, float: numpy.float64, str: str}


def ceil_div(a, b):
    return (a + b - 1) // b


def refuse(name, why):
    raise TypeError(f"dsbuild.jax.{name}: {why}, and arrays of JAX do not change")


def ask(op, function):
    """A function of an op that looks at the shapes and the device of arrays, also of those that jax.jit traces."""
    def answer(*arrays):
        with jax.ensure_compile_time_eval():
            stand_ins = [jnp.empty(array.shape, array.dtype) for array in arrays]
        return getattr(load(op), function)(*stand_ins)
    return answer


@functools.lru_cache(maxsize=None)
def _registered(op, function, backend, values):
    """The name that JAX knows the function by."""
    name = f"dsbuild.{function}"
    jax_tvm_ffi.register_ffi_target(name, getattr(load(op), function), ["args", "rets", *(f"attrs.{value}" for value in values)],
                                    platform=_PLATFORMS[backend], allow_cuda_graph=backend == "cuda")
    return name


def call(op, function, backend, arrays, results, returned, **values):
    """Calls the function with `arrays`, {name: array}, results of these (shape, dtype), and `values`. Those that
    `returned` numbers are returned, one by itself; the others are memory to work in."""
    missing = [name for name, array in arrays.items() if array is None]
    if missing or None in results:
        raise TypeError(f"dsbuild.jax.{function}: {missing[0] if missing else 'gradients'}: None is not taken here, for a call of "
                        "JAX has no place for it")
    name = _registered(op, function, backend, tuple(values))
    shapes = [jax.ShapeDtypeStruct(tuple(shape), dtype) for shape, dtype in results]
    made = jax.ffi.ffi_call(name, shapes)(*map(jnp.asarray, arrays.values()),
                                          **{key: _SCALARS[type(value)](value) for key, value in values.items()})
    wanted = tuple(made[number] for number in returned)
    return wanted if len(wanted) > 1 else wanted[0]
