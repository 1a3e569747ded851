"""async_io from a bundle: files written and read by it against plain Python. SEED repeats a run."""

import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

import support  # exits with 77 where something is missing

import numpy as np

op = support.load_op("async_io")
pin = support.load_op("pin_memory")
SEED = int(os.environ.get("SEED", random.randrange(2**32)))
PAGE = os.sysconf("SC_PAGESIZE")
BLOCK = 16 * PAGE
SHIM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "aio_shim.c")


def make_folder(test):
    """On a disk, where the cache can be passed by; /tmp may be memory."""
    folder = tempfile.mkdtemp(prefix="dsbuild-aio-", dir="/var/tmp")
    test.addCleanup(shutil.rmtree, folder)
    return folder


def pinned(size):
    return np.from_dlpack(pin.pin_memory_allocate([size], "uint8"))


def write(handle, array, path, *offset):
    op.async_io_write(handle, support.tensor(array), path, *offset)


def read(handle, array, path, *offset):
    op.async_io_read(handle, support.tensor(array), path, *offset)


def contents(path):
    return np.fromfile(path, np.uint8)


class Roundtrips(unittest.TestCase):
    def setUp(self):
        self.folder = make_folder(self)
        self.path = os.path.join(self.folder, "file")
        self.rng = np.random.default_rng(SEED)

    def some(self, *choices):
        return int(self.rng.choice(choices))

    def random_bytes(self, count):
        return self.rng.integers(0, 256, count, dtype=np.uint8)

    def random_handle(self):
        return op.async_io_open(self.some(1, 2, 7, 32), self.some(1, 3, 64) * PAGE, self.some(1, 2, 5),
                                bool(self.some(0, 1)))

    def random_buffer(self, size, phase):
        """`size` bytes at this place in a page; the whole around them."""
        whole = pinned(size + 2 * PAGE)
        whole[:] = 0xEE
        begin = phase % PAGE
        return whole, whole[begin:begin + size]

    def test_random_sizes_offsets_alignments_depths_and_threads(self):
        for number in range(30):
            size = self.some(0, 1, PAGE - 1, PAGE, PAGE + 1, 10 * PAGE, int(self.rng.integers(1, 1_500_000)))
            offset = self.some(0, 1, PAGE, 7 * PAGE, int(self.rng.integers(0, 1_000_000)))
            phase = offset if self.some(0, 1) else self.some(0, 1, 512, PAGE - 1)
            with self.subTest(seed=SEED, number=number, size=size, offset=offset, phase=phase):
                self.one_roundtrip(size, offset, phase)

    def one_roundtrip(self, size, offset, phase):
        before = self.random_bytes(self.some(0, 1000, 5 * PAGE + 3, offset + size // 2, offset + size + 10))
        before.tofile(self.path)
        expected = np.zeros(max(before.size, offset + size if size else 0), np.uint8)
        expected[:before.size] = before
        whole, buffer = self.random_buffer(size, phase)
        buffer[:] = expected[offset:offset + size] = self.random_bytes(size)
        handle = self.random_handle()
        write(handle, buffer, self.path, offset)
        np.testing.assert_array_equal(contents(self.path), expected)
        whole, buffer = self.random_buffer(size, self.some(0, offset, 3))
        if expected.size >= offset + size:
            read(handle, buffer, self.path, offset)
            np.testing.assert_array_equal(buffer, expected[offset:offset + size])
        beside = np.ones(whole.size, bool)
        begin = buffer.ctypes.data - whole.ctypes.data
        beside[begin:begin + size] = False
        self.assertTrue((whole[beside] == 0xEE).all())
        op.async_io_close(handle)

    def test_many_transfers_of_one_file_at_once(self):
        handle = op.async_io_open(4, PAGE, 3)
        edges = np.sort(self.rng.choice(1_000_000, 49, replace=False))
        data = self.random_bytes(1_000_000)
        parts = np.split(data, edges)
        begins = [0, *map(int, edges)]
        for begin, part in zip(begins, parts):
            op.async_io_start_write(handle, support.tensor(part), self.path, begin)
        self.assertEqual(op.async_io_wait(handle), 50)
        np.testing.assert_array_equal(contents(self.path), data)
        back = np.zeros_like(data)
        for begin, part in zip(begins, np.split(back, edges)):
            op.async_io_start_read(handle, support.tensor(part), self.path, begin)
        self.assertEqual(op.async_io_wait(handle), 50)
        np.testing.assert_array_equal(back, data)
        self.assertEqual(op.async_io_wait(handle), 0)

    def test_threads_with_one_handle_and_with_one_each(self):
        shared = op.async_io_open(8, PAGE, 2)
        data = [self.random_bytes(300_000) for _ in range(4)]
        wrong = []

        def work(number):
            own = op.async_io_open(2, 4 * PAGE, 1)
            path = f"{self.path}{number}"
            for turn in range(10):
                back = np.zeros_like(data[number])
                write(shared if turn % 2 else own, data[number], path)
                read(own if turn % 2 else shared, back, path)
                if not np.array_equal(back, data[number]):
                    wrong.append((number, turn))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_tensors_of_any_dtype_and_shape(self):
        handle = op.async_io_open()
        values = self.rng.standard_normal((7, 11, 13))
        write(handle, values, self.path)
        self.assertEqual(contents(self.path).tobytes(), values.tobytes())
        back = np.zeros((13, 77), np.float64)
        read(handle, back, self.path)
        self.assertEqual(back.tobytes(), values.tobytes())

    def test_closing_or_losing_a_handle_ends_what_was_started(self):
        data = self.random_bytes(500_000)
        for number, end in enumerate((op.async_io_close, lambda handle: None)):
            handle = op.async_io_open(1, PAGE, 1)
            op.async_io_start_write(handle, support.tensor(data), f"{self.path}{number}")
            end(handle)
            del handle
            np.testing.assert_array_equal(contents(f"{self.path}{number}"), data)


class Errors(unittest.TestCase):
    def setUp(self):
        self.folder = make_folder(self)
        self.path = os.path.join(self.folder, "file")
        self.handle = op.async_io_open(4, PAGE, 2)
        self.buffer = np.full(100, 7, np.uint8)

    def refused(self, kind, message, function, *arguments):
        with self.assertRaises(kind) as caught:
            function(*arguments)
        self.assertEqual(str(caught.exception), message)

    def test_a_missing_file_or_folder(self):
        nowhere = os.path.join(self.folder, "no", "file")
        for function in (op.async_io_read, op.async_io_start_read, op.async_io_write, op.async_io_start_write):
            name = {op.async_io_read: "read", op.async_io_start_read: "start_read", op.async_io_write: "write"}.get(
                function, "start_write")
            self.refused(RuntimeError, f"async_io_{name}: {nowhere}: No such file or directory (errno 2)", function,
                         self.handle, support.tensor(self.buffer), nowhere)

    def test_what_is_no_file(self):
        self.refused(RuntimeError, f"async_io_read: {self.folder}: not a regular file", read, self.handle, self.buffer,
                     self.folder)
        self.refused(RuntimeError, f"async_io_write: {self.folder}: Is a directory (errno 21)", write, self.handle,
                     self.buffer, self.folder)
        os.mkfifo(self.path)
        self.refused(RuntimeError, f"async_io_read: {self.path}: not a regular file", read, self.handle, self.buffer,
                     self.path)

    def test_reading_past_the_end_reads_nothing(self):
        np.zeros(150, np.uint8).tofile(self.path)
        for offset in (51, 151):
            message = f"{self.path}: the file has 150 bytes; 100 from offset {offset} on are wanted"
            self.refused(RuntimeError, f"async_io_read: {message}", read, self.handle, self.buffer, self.path, offset)
        self.assertTrue((self.buffer == 7).all())
        read(self.handle, self.buffer, self.path, 50)
        self.assertFalse(self.buffer.any())

    def test_a_closed_handle(self):
        op.async_io_close(self.handle)
        op.async_io_close(self.handle)
        for name in ("read", "write", "start_read", "start_write"):
            self.refused(ValueError, f"async_io_{name}: handle: it is closed", getattr(op, f"async_io_{name}"),
                         self.handle, support.tensor(self.buffer), self.path)
        self.refused(ValueError, "async_io_wait: handle: it is closed", op.async_io_wait, self.handle)
        self.assertFalse(os.path.exists(self.path))

    def test_each_argument_is_named(self):
        page = f"block_size: expected a multiple of the page size {PAGE}, at most 1 GiB"
        for message, arguments in (("queue_depth: expected a number from 1 to 65536", (0,)), (page, (1, 0)),
                                   (page, (1, PAGE + 512)), (page, (1, 2**30 + PAGE)),
                                   ("threads: expected a number from 1 to 256", (1, PAGE, 257))):
            self.refused(ValueError, f"async_io_open: {message}", op.async_io_open, *arguments)
        self.refused(TypeError, "async_io_open: direct: expected a bool, got str", op.async_io_open, 1, PAGE, 1, "no")
        self.refused(TypeError, "async_io_wait: handle: expected a handle of async_io_open, got None", op.async_io_wait,
                     None)
        self.refused(ValueError, "async_io_write: tensor: expected contiguous", write, self.handle, self.buffer[::2],
                     self.path)
        self.refused(ValueError, "async_io_write: offset: expected a place in a file, 0 or more", write, self.handle,
                     self.buffer, self.path, -1)
        self.refused(TypeError, "async_io_write: path: expected a string, got int", write, self.handle, self.buffer, 3)

    def test_more_requests_than_the_system_allows(self):
        with open("/proc/sys/fs/aio-max-nr", encoding="utf-8") as file:
            allowed = int(file.read())
        if allowed >= 65536 * 256:
            self.skipTest("fs.aio-max-nr is too large to be reached")
        with self.assertRaisesRegex(RuntimeError, r"^async_io_open: io_setup: Resource temporarily unavailable "
                                    rf"\(errno 11\); .* allows {allowed} \(fs.aio-max-nr\) and has \d+ in use; "):
            op.async_io_open(65536, PAGE, 256)


class FullDisks(unittest.TestCase):
    def setUp(self):
        self.folder = make_folder(self)

    def refusal(self, path, size, limit=resource.RLIM_INFINITY):
        """What a write of `size` bytes says in a child that may write files of `limit` bytes."""
        script = f"import test_async_io as t; t.write(t.op.async_io_open(), t.pinned({size}), {path!r})"
        run = subprocess.run([sys.executable, "-B", "-c", script], cwd=os.path.dirname(os.path.abspath(__file__)),
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
                             stderr=subprocess.PIPE, text=True, check=False)
        return run.stderr.strip().splitlines()[-1] if run.returncode else "no error"

    def test_a_file_over_the_size_limit(self):
        path = os.path.join(self.folder, "file")
        self.assertEqual(self.refusal(path, 2 * BLOCK, limit=BLOCK),
                         f"RuntimeError: async_io_write: {path}: File too large (errno 27): no room for {2 * BLOCK} "
                         "bytes from offset 0 on")
        self.assertEqual(self.refusal(path, BLOCK, limit=BLOCK), "no error")

    def test_a_full_disk(self):
        mount = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={4 * BLOCK}", "tmpfs", self.folder],
                               capture_output=True, text=True, check=False)
        if mount.returncode != 0:
            self.skipTest(f"no small file system can be mounted: {mount.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", self.folder], check=True)
        path = os.path.join(self.folder, "file")
        self.assertEqual(self.refusal(path, 5 * BLOCK),
                         f"RuntimeError: async_io_write: {path}: No space left on device (errno 28): no room for "
                         f"{5 * BLOCK} bytes from offset 0 on")
        self.assertEqual(self.refusal(path, 3 * BLOCK), "no error")


class DifficultKernels(unittest.TestCase):
    """The other tests' roundtrips in a process whose io_submit and io_getevents are aio_shim.c's."""

    @classmethod
    def setUpClass(cls):
        compiler = shutil.which("gcc")
        if not compiler:
            raise unittest.SkipTest("gcc is not installed")
        cls.shim_folder = tempfile.mkdtemp(prefix="dsbuild-aio-")
        cls.addClassCleanup(shutil.rmtree, cls.shim_folder)
        cls.shim = os.path.join(cls.shim_folder, "shim.so")
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", cls.shim, SHIM,
                        "-Wl,--no-as-needed", "-laio", "-ldl"], check=True)

    def setUp(self):
        self.folder = make_folder(self)
        self.path = os.path.join(self.folder, "file")

    def run_with(self, mode, *words, **environment):
        env = {**os.environ, "LD_PRELOAD": self.shim, "AIO_SHIM": mode, "SEED": str(SEED), **environment}
        return subprocess.run([sys.executable, "-B", os.path.abspath(__file__), *words], env=env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)

    def test_short_transfers_are_carried_on(self):
        run = self.run_with("short", "Roundtrips")
        self.assertEqual(run.returncode, 0, run.stdout)

    def test_interrupted_and_refused_calls_are_made_again(self):
        run = self.run_with("busy", "Roundtrips")
        self.assertEqual(run.returncode, 0, run.stdout)

    def test_an_error_names_path_and_offset_and_the_handle_goes_on(self):
        for mode, what in (("error", r"Input/output error \(errno 5\)"), ("eof", "the file ends here")):
            np.zeros(5 * BLOCK, np.uint8).tofile(self.path)
            run = self.run_with(mode, "--failing-read", self.path, AIO_SHIM_OFFSET=str(2 * BLOCK))
            self.assertRegex(run.stdout, rf"^1 async_io_start_read: {self.path}: {what}, at offset {2 * BLOCK}\n"
                             r"0 transfers left, the other file is read: True\n$")

    def test_whole_pages_go_past_the_cache_and_nothing_else_does(self):
        log = os.path.join(self.folder, "log")
        for direct, moved in ((1, {1: 4 * BLOCK, 0: 5 + 9}), (0, {0: 4 * BLOCK + 5 + 9})):
            run = self.run_with("count", "--direct-read", self.path, str(direct), AIO_SHIM_LOG=log)
            self.assertEqual(run.returncode, 0, run.stdout)
            if run.stdout == "no O_DIRECT\n":
                self.skipTest(f"the file system of {self.folder} has no O_DIRECT")
            found = {}
            for kind, count in np.loadtxt(log, dtype=int):
                found[int(kind)] = found.get(int(kind), 0) + int(count)
            os.remove(log)
            self.assertEqual(found, moved)


def failing_read(path):
    """Three reads, of which the second one fails; then one more."""
    handle = op.async_io_open(2, BLOCK, 1)
    np.arange(100, dtype=np.uint8).tofile(path + ".other")
    parts = [np.ones(n, np.uint8) for n in (100, 5 * BLOCK, 100)]
    for part, name in zip(parts, (path + ".other", path, path + ".other")):
        op.async_io_start_read(handle, support.tensor(part), name)
    try:
        op.async_io_wait(handle)
    except RuntimeError as error:
        print(1, error)
    again = np.zeros(100, np.uint8)
    read(handle, again, path + ".other")
    same = np.array_equal(again, np.arange(100)) and np.array_equal(parts[2], again)
    print(f"{op.async_io_wait(handle)} transfers left, the other file is read: {same}")


def direct_read(path, direct):
    """5 bytes before the first whole page, 4 blocks, 9 bytes behind the last."""
    data = np.arange(PAGE + 4 * BLOCK + 9) % 251
    data.astype(np.uint8).tofile(path)
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECT))
    except OSError:
        print("no O_DIRECT")
        return
    buffer = pinned(PAGE + 4 * BLOCK + 9)[PAGE - 5:]
    read(op.async_io_open(4, BLOCK, 1, direct), buffer, path, PAGE - 5)
    assert np.array_equal(buffer, data[PAGE - 5:])


if __name__ == "__main__":
    if "--failing-read" in sys.argv:
        failing_read(sys.argv[2])
    elif "--direct-read" in sys.argv:
        direct_read(sys.argv[2], sys.argv[3] == "1")
    else:
        print(f"seed={SEED}", file=sys.stderr)
        unittest.main()
