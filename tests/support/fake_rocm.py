"""A ROCm whose clang is made up: it knows what tests/unit/toolkit/data/clang-22 says, and has device libraries for some of it."""

import pathlib

ANSWER = pathlib.Path(__file__).resolve().parent.parent / "unit" / "toolkit" / "data" / "clang-22" / "supported_cpus.txt"
# As clang's driver, asked for its include folders and by dry runs: each processor without a device library is an error of its own.
CLANG = """#!/bin/sh
case " $* " in
  *" --print-supported-cpus "*) cat '{answer}' >&2; exit 0 ;;
  *" -v -E "*) printf '#include <...> search starts here:\\n /usr/include\\nEnd of search list.\\n' >&2; exit 0 ;;
  *" -### "*) ;;
  *) exit 1 ;;
esac
code=0
for word in "$@"; do
  case "$word" in
    {accepted}) ;;
    --offload-arch=*) code=1
      echo "clang++: error: cannot find ROCm device library for ${{word#*=}}; provide its path" >&2 ;;
  esac
done
exit $code
"""


def make_fake_rocm(home, *targets):
    """That compiles for these processors; HIP's headers are 6.3's."""
    for path, text in (("include/hip/hip_runtime.h", ""), ("amdgcn/bitcode/ocml.bc", ""),
                       ("include/hip/hip_version.h", "#define HIP_VERSION_MAJOR 6\n#define HIP_VERSION_MINOR 3\n"),
                       ("llvm/bin/clang++", CLANG.format(answer=ANSWER, accepted="|".join(
                           f"--offload-arch={target}" for target in targets)))):
        file = home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (home / "llvm/bin/clang++").chmod(0o755)
    return home
