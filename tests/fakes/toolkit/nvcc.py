"""A fake nvcc: answers as one CUDA version does and "compiles" to an object that is a real ELF file with real
fatbin headers. fake_toolkit.py makes it bin/nvcc of a toolkit tree; fake.json there says how it behaves:

  log      one JSON line per start of a compilation: {"argv", "cwd", "pid", "append"}
  sleep    seconds a compilation takes, half of them with its output half written
  slow     {"name.o.tmp": seconds}: how long outputs of that name stay half written instead
  payload  bytes of each device image
  fail     sources that do not compile

What a source can say: `// export: NAME` makes the object define the function NAME. The images' bytes depend on the
source, on the headers beside it that it includes, on its defines and on the target.
"""
import hashlib
import json
import os
import re
import struct
import sys
import time

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CONTAINER_MAGIC, PTX, ELF = 0xBA55ED50, 1, 2
SUFFIX_FLAGS = {"": 0, "a": 0x100000, "f": 0x200000}


def setting(name, default):
    try:
        with open(os.path.join(HOME, "fake.json"), encoding="utf-8") as file:
            return json.load(file).get(name, default)
    except OSError:
        return default


def append_line(path, text):
    """One write to a file opened for appending: lines of several processes do not mix."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(file, text.encode())
    os.close(file)


def answer(name):
    with open(os.path.join(HOME, name), encoding="utf-8") as file:
        sys.stdout.write(file.read())


def parse(argv):
    """The words that matter: source, output, depfile, its target, targets of the code, defines."""
    job = {"targets": [], "defines": [], "-o": None, "-MF": None, "-MT": None, "source": None}
    words = iter(argv)
    for word in words:
        if word in ("-o", "-MF", "-MT"):
            job[word] = next(words)
        elif word == "-c":
            job["source"] = next(words)
        elif word.startswith("-gencode="):
            job["targets"].append(re.fullmatch(r"-gencode=arch=compute_\w+,code=(\w+)", word).group(1))
        elif word.startswith("-D"):
            job["defines"].append(word)
    return job


def read(path):
    with open(path, "rb") as file:
        return file.read()


def headers_of(source, text):
    found = []
    for name in re.findall(rb'^#include "([^"]+)"', text, re.M):
        header = os.path.join(os.path.dirname(source), os.fsdecode(name))
        if os.path.isfile(header):
            found.append(header)
    return found


def image_bytes(seed, size):
    """Bytes that depend on the seed alone and do not compress away."""
    blocks = (hashlib.sha256(b"%d" % number + seed).digest() for number in range(size // 32 + 1))
    return b"".join(blocks)[:size - size % 8]


def entry(target, payload):
    kind, number, suffix = re.fullmatch(r"(sm|compute)_(\d+)([af]?)", target).groups()
    code = ELF if kind == "sm" else PTX
    flags = 0x11 | SUFFIX_FLAGS[suffix]
    return struct.pack("<HHIQIIHHIIIQQQ", code, 0x101, 64, len(payload), 0, 0, 8, 1, int(number), 0, 0, flags,
                       0, 0) + payload


def container(entries):
    body = b"".join(entries)
    return struct.pack("<IHHQ", CONTAINER_MAGIC, 1, 16, len(body)) + body


def assembly(symbols, fatbin):
    text = [".text"]
    for name in symbols:
        text += [f".globl {name}", f".type {name},@function", f"{name}: ret", f".size {name}, .-{name}"]
    text += ['.section .nv_fatbin,"a",@progbits', ".p2align 3"]
    for start in range(0, len(fatbin), 32):
        text.append(".byte " + ",".join(map(str, fatbin[start:start + 32])))
    return "\n".join([*text, '.section .note.GNU-stack,"",@progbits', ""])


def assemble(text):
    """Through `as`, in the folder for temporaries, as nvcc does."""
    base = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"fake_{os.getpid()}")
    with open(base + ".s", "w", encoding="ascii") as file:
        file.write(text)
    child = os.posix_spawnp("as", ["as", "-o", base + ".o", base + ".s"], os.environ)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
        sys.exit(1)
    code = read(base + ".o")
    os.unlink(base + ".s")
    os.unlink(base + ".o")
    return code


def write_in_halves(path, data, pause):
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    for half in (data[:len(data) // 2], data[len(data) // 2:]):
        while half:
            half = half[os.write(file, half):]
        time.sleep(pause)
        pause = 0
    os.close(file)


def write_depfile(job, inputs):
    escaped = [name.replace("$", "$$").replace(" ", "\\ ").replace("#", "\\#") for name in inputs]
    text = job["-MT"] + ": " + " \\\n ".join(escaped) + "\n"
    write_in_halves(job["-MF"], os.fsencode(text), 0)


def compile_source(argv):
    job = parse(argv)
    log = setting("log", None)
    if log:
        append_line(log, json.dumps({"argv": argv, "cwd": os.getcwd(), "pid": os.getpid(),
                                      "append": os.environ.get("NVCC_APPEND_FLAGS", "")}) + "\n")
    name = os.path.basename(job["source"])
    if name in setting("fail", []):
        print(f"{job['source']}(3): error: identifier \"undefined_name\" is undefined", file=sys.stderr)
        return 2
    pause = setting("sleep", 0) / 2
    text = read(job["source"])
    headers = headers_of(job["source"], text)
    seed = b"\0".join([text, *map(read, headers), *map(os.fsencode, sorted(job["defines"]))])
    size = setting("payload", 256)
    fatbin = container([entry(t, image_bytes(t.encode() + seed, size)) for t in job["targets"]])
    symbols = [symbol.decode() for symbol in re.findall(rb"^// export: (\w+)$", text, re.M)]
    time.sleep(pause)
    try:
        write_depfile(job, [job["source"], *headers])
        half_time = setting("slow", {}).get(os.path.basename(job["-o"]), pause)
        write_in_halves(job["-o"], assemble(assembly(symbols, fatbin)), half_time)
    except OSError as error:
        print(f"nvcc fatal   : {error.strerror}: '{error.filename or job['-o']}'", file=sys.stderr)
        return 1
    return 0


def main(argv):
    if "--dryrun" in argv:  # it has no steps of its own
        print("#$ fake-nvcc --all-at-once", file=sys.stderr)
        return 0
    if argv == ["--version"]:
        return answer("version.txt")
    if argv == ["--help"]:
        return answer("help.txt")
    return compile_source(argv)


sys.exit(main(sys.argv[1:]))
