"""NumPy arrays in SYCL's memory, and its queues. DSBUILD_SYCL_SHIM names the library of sycl_shim.cpp."""

import contextlib
import ctypes
import os
import weakref

import support  # exits with 77 where something is missing

import numpy as np
import tvm_ffi

ONE_API = 14  # kDLOneAPI

if not os.environ.get("DSBUILD_SYCL_SHIM"):
    support.skip("DSBUILD_SYCL_SHIM is not set (tests/cli/sycl_test.py builds it)")
_shim = ctypes.CDLL(os.environ["DSBUILD_SYCL_SHIM"])
_shim.shim_allocate.restype = _shim.shim_queue.restype = ctypes.c_void_p
_shim.shim_allocate.argtypes = [ctypes.c_int, ctypes.c_size_t]
_shim.shim_free.argtypes = [ctypes.c_int, ctypes.c_void_p]
_shim.shim_wait.argtypes = [ctypes.c_void_p]


def devices():
    """Their names; the index is DLPack's device_id."""
    names = []
    for device in range(_shim.shim_devices()):
        name = ctypes.create_string_buffer(256)
        _shim.shim_device_name(device, name, len(name))
        names.append(name.value.decode())
    return names


def array_like(array, device):
    """A copy of the array that device and host see."""
    memory = _shim.shim_allocate(device, max(array.nbytes, 1))
    block = (ctypes.c_char * max(array.nbytes, 1)).from_address(memory)
    weakref.finalize(block, _shim.shim_free, device, memory)
    copy = np.frombuffer(block, array.dtype, array.size).reshape(array.shape)
    copy[...] = array
    return copy


def tensor(array, device):
    return support.tensor(array, (ONE_API, device))


@contextlib.contextmanager
def queue(device):
    """One of the caller's, that ops put their work into; what is in it has ended when the context is left."""
    own = _shim.shim_queue(device)
    # tvm_ffi.device has no name for these.
    place = tensor(array_like(np.zeros(1, np.float32), device), device).device
    with tvm_ffi.use_raw_stream(place, own):
        yield
    _shim.shim_wait(own)
