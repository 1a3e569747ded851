#!/usr/bin/env python3
"""Reading and writing one file: async_io of a bundle against Python's own preadv and pwrite, in the same run.

    bench_async_io.py BUNDLE [--megabytes N] [--folder DIR]      prints the table of docs/figures/benchmarks.md

Needs NumPy and tvm-ffi. The file lies in DIR (default: the current folder), which should be on the disk in question.
Before cold reads and before writes the file's pages are dropped from the cache (posix_fadvise); writes end with an fsync.
"""

import argparse
import os
import statistics
import sys
import time

import numpy
import tvm_ffi

PIECE = 1 << 20  # of Python's reads and writes, and the block size of the handles
ROUNDS = 5


def timed(work):
    begin = time.monotonic()
    work()
    return time.monotonic() - begin


def drop_from_cache(path):
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def plain_read(path, view):
    with open(path, "rb", buffering=0) as file:
        for begin in range(0, len(view), PIECE):
            os.preadv(file.fileno(), [view[begin:begin + PIECE]], begin)


def plain_write(path, view):
    with open(path, "r+b", buffering=0) as file:
        for begin in range(0, len(view), PIECE):
            os.pwrite(file.fileno(), view[begin:begin + PIECE], begin)
        os.fsync(file.fileno())


def flush(path):
    with open(path, "rb") as file:
        os.fsync(file.fileno())


class Bench:
    def __init__(self, bundle, path, size):
        self.path, self.size = path, size
        self.aio, pin = (tvm_ffi.load_module(os.path.join(bundle, f"{name}.so")) for name in ("async_io", "pin_memory"))
        self.tensor = pin.pin_memory_allocate([size], "uint8")
        self.array = numpy.from_dlpack(self.tensor)
        self.array[:] = numpy.random.default_rng(1).integers(0, 256, size, dtype=numpy.uint8)
        self.array.tofile(path)

    def ways(self):
        """(name, read, write); the first one is what the others are compared with."""
        view = memoryview(self.array)
        yield "Python, 1 MiB at a time", lambda: plain_read(self.path, view), lambda: plain_write(self.path, view)
        for name, depth, threads, direct in (("async_io, queue depth 32", 32, 1, True),
                                             ("async_io, queue depth 8, 4 threads", 8, 4, True),
                                             ("async_io through the cache, 4 threads", 8, 4, False)):
            handle = self.aio.async_io_open(depth, PIECE, threads, direct)
            yield (name, lambda handle=handle: self.aio.async_io_read(handle, self.tensor, self.path),
                   lambda handle=handle: self.write(handle))

    def write(self, handle):
        self.aio.async_io_write(handle, self.tensor, self.path)
        flush(self.path)

    def seconds(self):
        """{name: (cold reads, warm reads, writes)}; the ways take turns, so that a busy disk is fair to all."""
        ways = list(self.ways())
        times = {name: ([], [], []) for name, _, _ in ways}
        for _ in range(ROUNDS):
            for name, read, write in ways:
                drop_from_cache(self.path)
                times[name][0].append(timed(read))
            plain_read(self.path, memoryview(self.array))
            for name, read, write in ways:
                times[name][1].append(timed(read))
            for name, read, write in ways:
                drop_from_cache(self.path)
                times[name][2].append(timed(write))
        return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bundle")
    parser.add_argument("--megabytes", type=int, default=512)
    parser.add_argument("--folder", default=".")
    options = parser.parse_args()
    path = os.path.join(options.folder, f"bench_async_io.{os.getpid()}")
    try:
        times = Bench(options.bundle, path, options.megabytes * 1_000_000 // PIECE * PIECE).seconds()
    finally:
        if os.path.exists(path):
            os.remove(path)
    medians = {name: [statistics.median(samples) for samples in lists] for name, lists in times.items()}
    first = next(iter(medians.values()))
    print("| way | cold read, s | times as fast | cached read, s | times as fast | write and fsync, s | times as fast |")
    print("|---|---|---|---|---|---|---|")
    for name, values in medians.items():
        cells = [f"{value:.3f} | {base / value:.2f}" for value, base in zip(values, first)]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    sys.exit(main())
