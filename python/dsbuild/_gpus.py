"""The GPUs of a process that uses CUDA already."""

import ctypes
import os
import subprocess
import sys

SUCCESS = 0
MAJOR, MINOR = 75, 76  # cuda.h: CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and …_MINOR


def of_this_process():
    """["9.0", "8.0"], a word for each GPU in CUDA's order, where CUDA is initialised in this process; else None. Then the
    program asks for itself: CUDA is neither loaded nor started here, and a process that was not initialised may fork. (A
    child that was forked off one that was says that it is not.)"""
    try:
        cuda = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOLOAD | os.RTLD_NOW)
    except OSError:
        return None
    count = ctypes.c_int()
    if cuda.cuDeviceGetCount(ctypes.byref(count)) != SUCCESS:
        return None
    archs = [arch_of(cuda, number) for number in range(count.value)]
    return archs if archs and all(archs) else None


def arch_of(cuda, number):
    device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    is_known = (cuda.cuDeviceGet(ctypes.byref(device), number) == SUCCESS
                and cuda.cuDeviceGetAttribute(ctypes.byref(major), MAJOR, device) == SUCCESS
                and cuda.cuDeviceGetAttribute(ctypes.byref(minor), MINOR, device) == SUCCESS)
    return f"{major.value}.{minor.value}" if is_known else None


def of_a_child():
    """The same of a process that starts CUDA and ends; None where it finds none."""
    run = subprocess.run([sys.executable, "-I", os.path.abspath(__file__)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, check=False)
    return run.stdout.split() or None


if __name__ == "__main__":
    ctypes.CDLL("libcuda.so.1").cuInit(0)
    print(*(of_this_process() or ()))
