"""Every kernel of the sources is launched by the scripts that run.sh sanitize runs: torch's profiler tells what they launch. Prints
each variant that was launched. sanitized_kernels.py SCRIPT...: these scripts."""

import pathlib
import re
import runpy
import sys

KERNELS = pathlib.Path(__file__).resolve().parents[2] / "kernels"
KERNEL = re.compile(r"__global__\s+void\s+(?:__launch_bounds__\((?:[^()]|\([^()]*\))*\)\s+)?(\w+)\(")


def kernels_of_sources():
    """{name: file}"""
    return {name: str(file.relative_to(KERNELS)) for file in sorted(KERNELS.glob("*/*.cu*"))
            for name in KERNEL.findall(file.read_text(encoding="utf-8"))}


def not_launched(launched):
    """[name (file)] of kernels that are in none of these names, mangled or not."""
    return [f"{name} ({file})" for name, file in kernels_of_sources().items()
            if not any(re.search(rf"(?<![a-z_]){name}(?![a-z_])", variant) for variant in launched)]


def launched_by(scripts):
    import torch
    from torch.profiler import ProfilerActivity, profile
    torch.zeros(1, device="cuda")  # the profiler begins when CUDA is there
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        for script in scripts:
            sys.argv = [script]
            runpy.run_path(script, run_name="__main__")
        torch.cuda.synchronize()
    return {event.name for event in seen.events()}


def main():
    import support  # exits with 77 where something is missing
    names = launched_by(sys.argv[1:])
    if not names:
        support.skip("torch's profiler sees no kernels here")
    own = sorted(name for name in names if "dsbuild" in name)
    print("\n".join(own))
    if not_launched(own):
        sys.exit("not launched: " + ", ".join(not_launched(own)))
    print(f"{len(kernels_of_sources())} kernels, {len(own)} variants")


if __name__ == "__main__":
    main()
