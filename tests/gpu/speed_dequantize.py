"""Dequantising to float32 against torch.compile of the formula, over fresh allocations: the same call varies with where its
arrays lie, so each of ALLOCATIONS pairs of both gives one median, and a row has the median of these. Exit code 1: a row is
below WANTED times as fast."""

import random
import statistics
import sys

import figures
import support  # exits with 77 where something is missing
from speed import functions_of, median_ms, row, torch_dequantize, torch_dequantize_integers, torch_dequantize_with_offsets

import torch

ALLOCATIONS, WANTED, COUNT = 10, 0.97, 2**28
DTYPE = torch.float32


def random_bytes(count):
    return torch.randint(0, 112, (count,), dtype=torch.uint8, device="cuda")  # of e4m3 no NaN


class Fp8:
    name = "fp_dequantize e4m3"

    def __init__(self, group_size):
        self.op, self.group_size = support.load_op("fp_quantizer"), group_size

    def allocate(self):
        return [random_bytes(COUNT), torch.rand(COUNT // self.group_size, device="cuda")]

    def own(self, arrays, values):
        codes, scales = arrays
        return lambda: self.op.fp_dequantize(codes, scales, values, self.group_size, "e4m3")

    def peer(self, arrays):
        codes, scales = arrays
        return torch_dequantize, (codes.view(torch.float8_e4m3fn), scales, self.group_size, DTYPE)


class Integers:
    def __init__(self, bits, group_size, with_offsets):
        self.op, self.bits, self.group_size, self.with_offsets = support.load_op("quantizer"), bits, group_size, with_offsets
        self.function = getattr(self.op, "dequantize_asymmetric" if with_offsets else "dequantize_symmetric")
        self.name = f"{'dequantize_asymmetric' if with_offsets else 'dequantize_symmetric'} int{bits}"

    def allocate(self):
        codes = random_bytes(COUNT * self.bits // 8)
        signed = self.bits == 8 and not self.with_offsets
        groups = COUNT // self.group_size
        return [codes.view(torch.int8) if signed else codes,
                *(torch.rand(groups, device="cuda") for _ in range(1 + self.with_offsets))]

    def own(self, arrays, values):
        return lambda: self.function(*arrays, values, self.group_size, self.bits)

    def peer(self, arrays):
        function = torch_dequantize_with_offsets if self.with_offsets else torch_dequantize_integers
        return function, (*arrays, self.group_size, self.bits, DTYPE)


def holes():
    """So that what is allocated next stands at other addresses."""
    return [torch.empty(random.randrange(1, 64) * 2**20 + 512 * random.randrange(100), dtype=torch.uint8, device="cuda")
            for _ in range(3)]


def times_of(case):
    """([own ms], [peer's ms], bytes moved), one for each allocation."""
    function, arguments = case.peer(case.allocate())
    compiled = dict(functions_of(function, *arguments))["torch.compile"]
    del arguments
    times = [times_of_allocation(case, compiled, number % 2) for number in range(ALLOCATIONS)]
    return [own for own, _, _ in times], [peer for _, peer, _ in times], times[-1][2]


def times_of_allocation(case, compiled, is_own_first):
    """(own ms, peer's ms, bytes moved)."""
    torch.cuda.empty_cache()
    gaps = holes()
    arrays = case.allocate()
    values = torch.empty(COUNT, dtype=DTYPE, device="cuda")
    _, arguments = case.peer(arrays)
    own_work, peer_work = case.own(arrays, values), lambda: compiled(*arguments)
    if is_own_first:
        own, peer = median_ms(own_work), median_ms(peer_work)
    else:
        peer, own = median_ms(peer_work), median_ms(own_work)
    del gaps
    return own, peer, values.nbytes + sum(array.nbytes for array in arrays)


def main():
    cases = [*(Fp8(group_size) for group_size in (128, 2048)),
             *(Integers(bits, group_size, with_offsets) for bits, group_size in ((8, 128), (8, 2048), (4, 128))
               for with_offsets in (False, True))]
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}: medians over {ALLOCATIONS} allocations, to float32.\n")
    slow = []
    with figures.table("dequantize") as table:
        for case in cases:
            own, peer, moved = times_of(case)
            name, ratio = f"268 M, groups of {case.group_size}", statistics.median(p / o for o, p in zip(own, peer))
            table.add_speed(**row(case.name, name, statistics.median(own), "torch.compile", ratio * statistics.median(own), moved))
            if ratio < WANTED:
                slow.append(f"{case.name}, {name}: {ratio:.2f}")
    if slow:
        sys.exit("not as fast as wanted: " + "; ".join(slow))


if __name__ == "__main__":
    main()
