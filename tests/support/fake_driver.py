"""A libcuda.so.1 whose GPUs are made up (tests/fakes/libcuda.cpp), for programs that ask CUDA's driver which there are."""

import pathlib
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "fakes" / "libcuda.cpp"


def make_fake_driver(folder):
    """The variables with which a program finds it, without GPUs: FAKE_GPUS is the caller's to set."""
    folder.mkdir()
    subprocess.run(["g++", "-shared", "-fPIC", "-static-libstdc++", "-static-libgcc", "-o", folder / "libcuda.so.1", SOURCE], check=True)
    return {"LD_LIBRARY_PATH": str(folder), "FAKE_LOG": str(folder / "starts.log"), "FAKE_GPUS": ""}
