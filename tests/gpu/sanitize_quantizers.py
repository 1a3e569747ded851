"""Small calls of every kernel of fp_quantizer and quantizer, for compute-sanitizer (run.sh sanitize): each dtype and format, groups
that share a block and groups with a block each, whole packs and odd sizes."""

import support  # exits with 77 where something is missing

import torch

DTYPES = (torch.float32, torch.float16, torch.bfloat16)
SHAPES = ((32, 4 * 32), (8, 35), (2048, 3 * 2048), (1000, 2999))  # elements of a group, elements


def empty(count, dtype):
    return torch.empty(count, dtype=dtype, device="cuda")


def call_fp_quantizer(op, values, back, group_size, groups):
    for form in ("e4m3", "e5m2"):
        codes, scales = empty(values.numel(), torch.uint8), empty(groups, torch.float32)
        op.fp_quantize(values, codes, scales, group_size, form)
        op.fp_dequantize(codes, scales, back, group_size, form)


def call_quantizer(op, values, back, group_size, groups):
    for bits in (8, 4):
        bytes_of_codes = (values.numel() * bits + 7) // 8
        scales, offsets = empty(groups, torch.float32), empty(groups, torch.float32)
        codes = empty(bytes_of_codes, torch.int8 if bits == 8 else torch.uint8)
        op.quantize_symmetric(values, codes, scales, group_size, bits)
        op.dequantize_symmetric(codes, scales, back, group_size, bits)
        codes = empty(bytes_of_codes, torch.uint8)
        op.quantize_asymmetric(values, codes, scales, offsets, group_size, bits)
        op.dequantize_asymmetric(codes, scales, offsets, back, group_size, bits)


def main():
    fp_quantizer, quantizer = support.load_op("fp_quantizer"), support.load_op("quantizer")
    for dtype in DTYPES:
        for group_size, count in SHAPES:
            values = torch.randn(count, device="cuda").to(dtype)
            groups = -(-count // group_size)
            for call, op in ((call_fp_quantizer, fp_quantizer), (call_quantizer, quantizer)):
                call(op, values, torch.empty_like(values), group_size, groups)
    torch.cuda.synchronize()
    print("done")


if __name__ == "__main__":
    main()
