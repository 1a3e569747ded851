"""Grouped int8 and int4 quantisation as docs/reference/ops.md writes it, in float64 with NumPy."""

import dataclasses

import numpy as np

SMALLEST_SCALE = 2.0**-126


@dataclasses.dataclass(frozen=True)
class Format:
    bits: int
    symmetric: bool

    @property
    def name(self):
        return "symmetric" if self.symmetric else "asymmetric"

    @property
    def code_range(self):
        """The smallest and the largest code."""
        top = 2**(self.bits - 1) - 1 if self.symmetric else 2**self.bits - 1
        return (-top, top) if self.symmetric else (0, top)

    def code_count(self, count):
        """Bytes that the codes of `count` elements take."""
        return count if self.bits == 8 else -(-count // 2)


FORMATS = [Format(bits, symmetric) for bits in (8, 4) for symmetric in (True, False)]


def in_groups(values, group_size):
    """Float64 rows of group_size; NaN fills up the last one."""
    flat = values.astype(np.float64).ravel()
    return np.pad(flat, (0, -flat.size % group_size), constant_values=np.nan).reshape(-1, group_size)


def parameters(values, group_size, form):
    """Scales and offsets (zeros for a symmetric format) of each group, exact but for float64's own rounding."""
    groups = in_groups(values, group_size)
    finite = np.isfinite(groups)
    any_finite = finite.any(1)
    low = np.where(any_finite, np.where(finite, groups, np.inf).min(1), 0)
    high = np.where(any_finite, np.where(finite, groups, -np.inf).max(1), 0)
    extent = np.maximum(np.abs(low), np.abs(high)) if form.symmetric else high - low
    scales = np.where(extent > 0, np.maximum(extent / form.code_range[1], SMALLEST_SCALE), 1)
    return scales, np.zeros_like(low) if form.symmetric else low


def positions(values, scales, offsets, group_size):
    """(x - offset) / scale of each element: the code before rounding."""
    flat = ((in_groups(values, group_size) - offsets[:, None]) / scales[:, None]).ravel()
    return flat[:values.size]


def unpacked(codes, count, form):
    """Integers from the bytes that quantize wrote."""
    raw = codes.ravel().view(np.uint8)
    if form.bits == 4:
        raw = np.stack([raw & 15, raw >> 4], 1).ravel()[:count]
    codes = raw.astype(np.int64)
    return np.where(codes > form.code_range[1], codes - 2**form.bits, codes) if form.symmetric else codes


def dequantized(codes, scales, offsets, group_size):
    """offset + scale * code, in float64."""
    groups = -(-codes.size // group_size)
    rows = np.pad(codes, (0, groups * group_size - codes.size)).reshape(groups, group_size)
    return (offsets[:, None].astype(np.float64) + scales[:, None].astype(np.float64) * rows).ravel()[:codes.size]
