"""pin_memory from a bundle: what it says of its memory against what the kernel says (VmLck of /proc)."""

import os
import re
import resource
import sys
import unittest

import support  # exits with 77 where something is missing

import numpy as np

op = support.load_op("pin_memory")
PAGE = os.sysconf("SC_PAGESIZE")
NOBODY = 65534


def kernel_locked():
    """Bytes that the kernel has locked for this process."""
    with open("/proc/self/status", "rb") as file:  # bytes: a child without privileges can import no codec
        return int(re.search(rb"^VmLck:\s+(\d+) kB", file.read(), re.M).group(1)) * 1024


def allocate(count, dtype="uint8"):
    return op.pin_memory_allocate([count], dtype)


def in_child(work, limit):
    """What `work()` returns (text) in a forked child without privileges, under that RLIMIT_MEMLOCK."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            resource.setrlimit(resource.RLIMIT_MEMLOCK, (limit, limit))
            if os.geteuid() == 0:
                os.setresuid(NOBODY, NOBODY, NOBODY)
            text = work()
        except BaseException as error:  # pylint: disable=broad-except
            text = repr(error)
        os.write(theirs, text.encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as file:
        text = file.read().decode()
    os.waitpid(child, 0)
    return text


class Memory(unittest.TestCase):
    def test_memory_is_zero_whole_pages_and_locked(self):
        before = kernel_locked()
        tensor = op.pin_memory_allocate([3, 1000], "float32")
        array = np.from_dlpack(tensor)
        self.assertEqual((array.shape, array.dtype, array.any()), ((3, 1000), np.float32, False))
        self.assertEqual(array.ctypes.data % PAGE, 0)
        pages = -(-12000 // PAGE) * PAGE
        self.assertEqual(kernel_locked() - before, pages)
        self.assertEqual(op.pin_memory_locked_bytes(), pages)

    def test_memory_can_be_written_and_read(self):
        array = np.from_dlpack(allocate(5 * PAGE))
        array[:] = np.arange(array.size) % 251
        self.assertEqual(int(array[3 * PAGE + 7]), (3 * PAGE + 7) % 251)

    def test_memory_goes_with_the_last_reference(self):
        before = kernel_locked()
        tensor = allocate(10 * PAGE)
        array = np.from_dlpack(tensor)
        del tensor
        array[-1] = 9
        self.assertEqual((kernel_locked() - before, int(array[-1])), (10 * PAGE, 9))
        del array
        self.assertEqual((kernel_locked(), op.pin_memory_locked_bytes()), (before, 0))

    def test_unlocked_memory_stays(self):
        before = kernel_locked()
        tensor = allocate(10 * PAGE)
        array = np.from_dlpack(tensor)
        array[:] = 3
        op.pin_memory_unlock(tensor)
        self.assertEqual((kernel_locked(), op.pin_memory_locked_bytes()), (before, 0))
        self.assertFalse(op.pin_memory_is_pinned(tensor))
        self.assertTrue((array == 3).all())

    def test_views_are_pinned_other_memory_is_not(self):
        tensor = allocate(2 * PAGE)
        array = np.from_dlpack(tensor)
        for view in (array, array[5:], array[PAGE:PAGE + 1], array[:0]):
            self.assertTrue(op.pin_memory_is_pinned(support.tensor(view)))
        self.assertFalse(op.pin_memory_is_pinned(support.tensor(np.zeros(2 * PAGE, np.uint8))))

    def test_nothing_can_be_allocated(self):
        self.assertEqual(np.from_dlpack(op.pin_memory_allocate([0, 5], "int64")).shape, (0, 5))

    def test_every_dtype_has_its_size(self):
        for dtype, size in (("int8", 1), ("float16", 2), ("bfloat16", 2), ("float32", 4), ("float64", 8)):
            tensor = allocate(PAGE, dtype)
            self.assertEqual(op.pin_memory_locked_bytes(), PAGE * size, dtype)
            del tensor


class Errors(unittest.TestCase):
    def refused(self, kind, message, function, *arguments):
        with self.assertRaises(kind) as caught:
            function(*arguments)
        self.assertEqual(str(caught.exception), message)

    def message_under(self, limit, count):
        def work():
            try:
                allocate(count)
            except RuntimeError as error:
                return str(error)
            return "no error"

        return in_child(work, limit)

    def test_the_limit_is_named_with_its_value_and_the_fix(self):
        for limit in (16 * PAGE, 0):
            text = self.message_under(limit, 17 * PAGE)
            self.assertRegex(text, rf"^pin_memory_allocate: {17 * PAGE} bytes cannot be locked: "
                             r"(Cannot allocate memory \(errno 12\)|Operation not permitted \(errno 1\)); ")
            self.assertIn(f"; RLIMIT_MEMLOCK is {limit} bytes, and 0 bytes are locked here already; raise it (ulimit -l",
                          text)

    def test_a_refused_allocation_leaves_nothing_locked(self):
        def work():
            for _ in range(100):
                try:
                    allocate(17 * PAGE)
                except RuntimeError:
                    pass
            allocate(15 * PAGE)
            return f"{kernel_locked()} {op.pin_memory_locked_bytes()}"

        self.assertEqual(in_child(work, 16 * PAGE), "0 0")

    def test_what_no_machine_has_is_refused(self):
        self.refused(RuntimeError, f"pin_memory_allocate: {2**50} bytes cannot be allocated: Cannot allocate memory "
                     "(errno 12)", allocate, 2**50)
        self.refused(ValueError, "pin_memory_allocate: shape: expected fewer elements", op.pin_memory_allocate,
                     [2**62, 8], "int8")

    def test_each_argument_is_named(self):
        self.refused(ValueError, "pin_memory_allocate: shape: expected sizes of 0 or more", op.pin_memory_allocate,
                     [3, -1], "int8")
        self.refused(TypeError, "pin_memory_allocate: shape[1]: expected an integer, got str", op.pin_memory_allocate,
                     [3, "x"], "int8")
        self.refused(TypeError, "pin_memory_allocate: shape: expected a list of integers, got int",
                     op.pin_memory_allocate, 3, "int8")
        self.refused(ValueError, "pin_memory_allocate: dtype: unknown dtype `floof`", op.pin_memory_allocate, [3],
                     "floof")
        self.refused(TypeError, "pin_memory_is_pinned: tensor: expected a tensor, got int", op.pin_memory_is_pinned, 3)

    def test_only_locked_memory_can_be_unlocked(self):
        message = "pin_memory_unlock: tensor: expected a tensor of pin_memory_allocate that is locked"
        self.refused(ValueError, message, op.pin_memory_unlock, support.tensor(np.zeros(9)))
        tensor = allocate(9)
        op.pin_memory_unlock(tensor)
        self.refused(ValueError, message, op.pin_memory_unlock, tensor)


if __name__ == "__main__":
    print(f"page size {PAGE}", file=sys.stderr)
    unittest.main()
