"""The ops of DSBUILD_BUNDLE, whose kernels run on a CPU as HIP's, against float64. The last line is a digest of all that
they wrote, the same for the same DSBUILD_SEED."""

import hashlib
import os

import support  # exits with 77 where something is missing

import adam_reference
import lamb_reference
import lion_reference
import numpy as np
import quantizer_reference

SEED = int(os.environ["DSBUILD_SEED"])
BLOCK = 4096  # elements of one block of the optimisers
SIZES = (1, 3, 255, BLOCK - 1, BLOCK, 2 * BLOCK + 5)
rng = np.random.default_rng(SEED)
digest = hashlib.sha256()


def note(*arrays):
    for array in arrays:
        digest.update(array.tobytes())


def tensors(arrays):
    return [support.rocm_tensor(array) for array in arrays]


def check_optimizer(name, reference, states, dtype, **options):
    """One step of tensors of all sizes, with lr and step as numbers and then in tensors: the same bits."""
    options = reference.Options(weight_decay=0.1, **options)
    states = [[np.abs(rng.normal(0, 0.1, n)).astype("float32") for n in SIZES] for _ in range(states)]
    lists = [[rng.normal(0, 1, n).astype(dtype) for n in SIZES] for _ in range(2)] + states
    before = [[a.astype(np.float64) for a in arrays] for arrays in lists]
    late = [[a.copy() for a in arrays] for arrays in lists]
    op = support.load_op(name)
    step(op, name, lists, options.arguments())
    for values in zip(*before, *lists):
        old, new = values[:len(lists)], values[len(lists):]
        wanted, allowed = reference.reference_step(*old, options), reference.tolerances(*old, options)
        for index, (value, want, tolerance) in enumerate(zip((new[0], *new[2:]), wanted, allowed)):
            if index == 0 and dtype == "float16":
                tolerance = tolerance + np.abs(want) * 2.0**-11 * 1.001 + 2.0**-25
            assert (np.abs(value.astype(np.float64) - want) <= tolerance).all(), (name, dtype, index, value.size)
    numbers = list(options.arguments())
    numbers[0] = support.rocm_tensor(np.array([options.lr], "float32"))
    plain = list(options.arguments())
    plain[0] = float(np.float32(options.lr))
    again = [[a.copy() for a in arrays] for arrays in late]
    step(op, name, late, numbers)
    step(op, name, again, plain)
    for one, other in zip(late, again):
        for a, b in zip(one, other):
            assert a.tobytes() == b.tobytes(), name
    note(*(array for arrays in lists for array in arrays))


def step(op, name, lists, arguments):
    lists = [tensors(arrays) for arrays in lists]
    scratch = []
    if name == "fused_lamb":
        scratch = tensors([np.full(op.fused_lamb_scratch(lists[0]), np.nan, "float32")])
    getattr(op, f"{name}_step")(*lists, *scratch, *arguments)


def group_cases():
    for group_size in (8, 24, 64, 264, 512, 1000, 8192):
        for count in (1, 9, group_size, 3 * group_size + 13):
            values = rng.normal(0, 1, count) * np.exp2(rng.integers(-12, 4, count))
            values[rng.integers(0, count, count // 50)] = np.nan
            values[rng.integers(0, count, count // 50)] = np.inf
            yield group_size, values.astype(rng.choice(["float32", "float16"]))


def check_quantizer():
    op = support.load_op("quantizer")
    for form in quantizer_reference.FORMATS:
        for group_size, values in group_cases():
            codes = np.full(form.code_count(values.size), 0x2A, "int8" if form.symmetric and form.bits == 8 else "uint8")
            scales, offsets = (np.zeros(-(-values.size // group_size), "float32") for _ in range(2))
            parameters = [scales] if form.symmetric else [scales, offsets]
            getattr(op, f"quantize_{form.name}")(*tensors([values, codes, *parameters]), group_size, form.bits)
            wanted, wanted_offsets = quantizer_reference.parameters(values, group_size, form)
            np.testing.assert_allclose(scales, wanted, rtol=2.0**-22)
            np.testing.assert_array_equal(offsets, wanted_offsets)
            integers = quantizer_reference.unpacked(codes, values.size, form)
            with np.errstate(invalid="ignore"):
                place = quantizer_reference.positions(values, scales.astype(np.float64), offsets.astype(np.float64), group_size)
            place = np.clip(np.nan_to_num(place, nan=0, posinf=1e9, neginf=-1e9), *form.code_range)
            assert (np.abs(integers - place) <= 0.5001).all(), (form, group_size)
            back = np.zeros_like(values)
            getattr(op, f"dequantize_{form.name}")(*tensors([codes, *parameters, back]), group_size, form.bits)
            exact = quantizer_reference.dequantized(integers, scales, offsets, group_size)
            np.testing.assert_allclose(back, exact, rtol=1e-6 if values.dtype == np.float32 else 1e-3,
                                       atol=1e-6 * float(np.abs(offsets).max() + 1) + (values.dtype == np.float16) * 1e-3)
            note(codes, scales, offsets, back)


def fp8_values(mantissa_bits, bias, largest):
    """Every finite value that is not negative, by the format's definition; its index is its code."""
    values = []
    for code in range(128):
        exponent, mantissa = code >> mantissa_bits, code & ((1 << mantissa_bits) - 1)
        value = (mantissa if exponent == 0 else mantissa + (1 << mantissa_bits)) * 2.0**(max(exponent, 1) - bias - mantissa_bits)
        values += [value] if value <= largest else []
    return np.array(values)


def check_fp_quantizer():
    op = support.load_op("fp_quantizer")
    for name, table in (("e4m3", fp8_values(3, 7, 448)), ("e5m2", fp8_values(2, 15, 57344))):
        for group_size, values in group_cases():
            codes = np.full(values.size, 0xAA, "uint8")
            scales = np.zeros(-(-values.size // group_size), "float32")
            op.fp_quantize(*tensors([values, codes, scales]), group_size, name)
            groups = quantizer_reference.in_groups(values, group_size)
            largest = np.where(np.isfinite(groups), np.abs(groups), 0).max(1)
            wanted = np.where(largest > 0, np.maximum(largest / table[-1], 2.0**-126), 1)
            np.testing.assert_allclose(scales, wanted, rtol=2.0**-22)
            back = np.zeros(values.size, "float32")
            op.fp_dequantize(*tensors([codes, scales, back]), group_size, name)
            each = np.repeat(scales, group_size)[:values.size].astype(np.float64)
            known = ~np.isnan(values)
            assert np.isnan(back[~known]).all()
            magnitude = np.minimum(np.abs(values[known].astype(np.float64)) / each[known], table[-1])
            nearest = np.abs(table[:, None] - magnitude[None, :]).min(0)
            assert (np.abs(np.abs(back[known] / each[known]) - magnitude) <= nearest + 1e-6 * magnitude + 1e-9).all(), group_size
            note(codes, scales, back)


def check_halves():
    """Every finite float16 to float32 and back: Adam that changes nothing keeps each."""
    bits = np.arange(65536, dtype=np.uint16)
    param = bits.view(np.float16).copy()
    zeros = [np.zeros(param.size, "float16"), *(np.zeros(param.size, "float32") for _ in range(2))]
    options = adam_reference.Options(lr=0.0)
    step(support.load_op("fused_adam"), "fused_adam", [[param], *([zero] for zero in zeros)], options.arguments())
    finite = np.isfinite(bits.view(np.float16))
    assert (param.view(np.uint16)[finite] == bits[finite]).all()


for dtype in ("float32", "float16"):
    check_optimizer("fused_adam", adam_reference, 2, dtype, step=3)
    check_optimizer("fused_lamb", lamb_reference, 2, dtype, step=3)
    check_optimizer("fused_lion", lion_reference, 1, dtype)
check_halves()
check_quantizer()
check_fp_quantizer()
print(digest.hexdigest())
