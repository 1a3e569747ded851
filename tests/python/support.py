"""What the tests of a bundle's ops share.

The bundle's folder is named by DSBUILD_BUNDLE. Where something is missing that a test needs, it exits with 77,
which CTest shows as skipped.
"""

import ctypes
import os
import sys


def skip(reason):
    print(f"skipped: {reason}", file=sys.stderr)
    sys.exit(77)


try:
    import numpy
except ImportError:
    skip("numpy is not installed (pip install numpy)")
try:
    import tvm_ffi
except ImportError:
    skip("tvm_ffi is not installed (pip install apache-tvm-ffi)")


def load_op(name):
    folder = os.environ.get("DSBUILD_BUNDLE")
    if not folder:
        skip("DSBUILD_BUNDLE is not set (the folder of a bundle, as dsbuild makes it)")
    return tvm_ffi.load_module(os.path.join(folder, name + ".so"))


class _DLTensor(ctypes.Structure):  # of dlpack.h, up to the fields changed here
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("type_code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class _View:
    """An array that DLPack shows with other fields."""

    def __init__(self, array, **fields):
        self._array = array
        self._fields = fields

    def __dlpack__(self, **_):
        capsule = self._array.__dlpack__()
        tensor = _DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
        for name, value in self._fields.items():
            setattr(tensor, name, value)
        return capsule

    def __dlpack_device__(self):
        return tuple(self._fields.get("device", self._array.__dlpack_device__()))


def tensor(array):
    """Shares the array's memory; uint16 is taken for the bits of bfloat16, which NumPy has no type for."""
    return tvm_ffi.from_dlpack(_View(array, type_code=4) if array.dtype == numpy.uint16 else array)


def rocm_tensor(array, device=0):
    """The array's memory as if it were that of an AMD GPU: for what looks at arguments and launches nothing."""
    return tvm_ffi.from_dlpack(_View(array, device=(ctypes.c_int32 * 2)(10, device)))  # kDLROCM


def bfloat16_bits(array):
    """Float32 values cut to bfloat16, as uint16."""
    return (array.astype(numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16)


def bfloat16_values(bits):
    return (bits.astype(numpy.uint32) << 16).view(numpy.float32)
