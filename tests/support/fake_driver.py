"""A libcuda.so.1 whose GPUs are made up, for programs that ask CUDA's driver which there are."""

import subprocess

# FAKE_GPUS: the compute capabilities of the GPUs, "90 80". FAKE_LOG: a file that gets a line for each start of CUDA. As the
# real one it answers nothing before cuInit, nor in a child that is forked behind it.
LIBCUDA = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int gpus[8], number, started_in;
int cuInit(unsigned flags) {
  started_in = getpid();
  number = 0;
  for (const char* at = getenv("FAKE_GPUS"); at && *at; ) { gpus[number++] = strtol(at, (char**)&at, 10); while (*at == ' ') ++at; }
  if (getenv("FAKE_LOG")) { FILE* log = fopen(getenv("FAKE_LOG"), "a"); fputs("cuInit\n", log); fclose(log); }
  return 0;
}
static int is_started() { return started_in == getpid(); }
int cuDriverGetVersion(int* version) { *version = 13000; return 0; }
int cuDeviceGetCount(int* count) { *count = number; return is_started() ? 0 : 3; }
int cuDeviceGet(int* device, int place) { *device = place; return is_started() ? 0 : 3; }
int cuDeviceGetAttribute(int* value, int what, int device) {
  *value = what == 75 ? gpus[device] / 10 : gpus[device] % 10;
  return is_started() ? 0 : 3;
}
"""


def make_fake_driver(folder):
    """The variables with which a program finds it; FAKE_GPUS is the caller's to set."""
    folder.mkdir()
    (folder / "cuda.c").write_text(LIBCUDA)
    subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-o", folder / "libcuda.so.1", folder / "cuda.c"], check=True)
    return {"LD_LIBRARY_PATH": str(folder), "FAKE_LOG": str(folder / "starts.log")}
