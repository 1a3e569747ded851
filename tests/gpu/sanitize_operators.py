"""Each torch operator once with each of its samples and dtypes, for compute-sanitizer:

    compute-sanitizer --tool memcheck --error-exitcode 1 python3 tests/gpu/sanitize_operators.py
"""

import support  # exits with 77 where something is missing

try:
    import torch
except ImportError:
    support.skip("torch is not installed (pip install torch)")

import dsbuild.torch  # noqa: F401  registers the operators
import torch_samples


def main():
    calls = list(torch_samples.calls("cuda"))
    for call in calls:
        call.operator(*call.arguments, **call.named)
        torch.cuda.synchronize()
    print(f"{len(calls)} calls")


if __name__ == "__main__":
    main()
