"""A fake nvcc: answers as one CUDA version does and "compiles" to an object that is a real ELF file with real
fatbin headers. fake_toolkit.py makes it bin/nvcc of a toolkit tree; fake.json there says how it behaves:

  steps    its dry run shows steps that dsbuild can slice, and they make what it makes itself; the same file is
           cudafe++, cicc, ptxas and fatbinary. Without, the dry run has one step that nobody knows
  log      one JSON line per start of a compilation, by steps of cicc: {"argv", "source", "cwd", "pid", "append"}
  sleep    seconds a compilation takes, half of them with its output half written
  slow     {"name.o.tmp": seconds}: how long outputs of that name stay half written instead
  inner    seconds that a tool of its own takes before that: a compiler's driver waits for the compiler
  payload  bytes of each device image
  fail     sources that do not compile

What a source can say: `// export: NAME` makes the object define the function NAME. The images' bytes depend on the
source, on the headers beside it that it includes, on its defines and on the target; with `steps` on the text that
the preprocessor makes of them.
"""
import hashlib
import json
import os
import re
import shlex
import struct
import subprocess
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
    job = {"targets": [], "pairs": [], "defines": [], "-o": None, "-MF": None, "-MT": None, "-ccbin": "g++", "source": None}
    words = iter(argv)
    for word in words:
        if word in ("-o", "-MF", "-MT", "-ccbin"):
            job[word] = next(words)
        elif word == "-c":
            job["source"] = next(words)
        elif word.startswith("-gencode="):
            job["pairs"].append(re.fullmatch(r"-gencode=arch=(compute_\w+),code=(\w+)", word).groups())
            job["targets"].append(job["pairs"][-1][1])
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


def assembly_of(symbols):
    text = [".text"]
    for name in symbols:
        text += [f".globl {name}", f".type {name},@function", f"{name}: ret", f".size {name}, .-{name}"]
    return text


def assembly(symbols, fatbin):
    text = assembly_of(symbols) + ['.section .nv_fatbin,"a",@progbits', ".p2align 3"]
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


def log_start(argv, source):
    log = setting("log", None)
    if log:
        append_line(log, json.dumps({"argv": argv, "source": source, "cwd": os.getcwd(), "pid": os.getpid(),
                                      "append": os.environ.get("NVCC_APPEND_FLAGS", "")}) + "\n")


def fails(source):
    if os.path.basename(source) not in setting("fail", []):
        return False
    print(f"{source}(3): error: identifier \"undefined_name\" is undefined", file=sys.stderr)
    return True


def exported(text):
    return [symbol.decode() for symbol in re.findall(rb"^// export: (\w+)$", text, re.M)]


# ---- steps


def host_flags(argv):
    """Those that nvcc hands to the host's compiler."""
    flags, words = [], iter(argv)
    for word in words:
        if word == "-isystem":
            flags += [word, next(words)]
        elif word.startswith("-Xcompiler="):
            flags += word.removeprefix("-Xcompiler=").split(",")
        elif re.match(r"-[IDU]|-std=|-O\d", word):
            flags.append(word)
    return flags


def preprocess_command(argv, job, arch=None):
    """Comments are kept, for they say what is exported."""
    numbers = sorted({int(re.search(r"\d+", virtual)[0]) for virtual, _ in job["pairs"]})
    defines = [f"-D__CUDA_ARCH__={re.search('[0-9]+', arch)[0]}0"] if arch else []
    return [job["-ccbin"], *defines, "-D__CUDA_ARCH_LIST__=" + ",".join(f"{number}0" for number in numbers), "-E", "-C",
            "-x", "c++", *host_flags(argv), job["source"], "-o"]


def virtual_archs(job):
    return sorted({arch for arch, _ in job["pairs"]})


def device_file(unit, arch, code):
    return f"{unit}.{arch}." + ("ptx" if code == arch else f"{code}.cubin")


def steps_of(argv, job):
    """What the dry run shows."""
    unit = os.path.splitext(os.path.basename(job["-o"]))[0]
    tool = lambda name: os.path.join(HOME, "bin", name)  # noqa: E731
    host = f"{unit}.{virtual_archs(job)[0]}.cudafe1"
    yield [*preprocess_command(argv, job), f"{unit}.cpp4.ii"]
    yield [tool("cudafe++"), "--gen_c_file_name", f"{host}.cpp", "--stub_file_name", f"{host}.stub.c", f"{unit}.cpp4.ii"]
    for arch in virtual_archs(job):
        text, ptx = f"{unit}.{arch}.cpp1.ii", device_file(unit, arch, arch)
        yield [*preprocess_command(argv, job, arch), text]
        yield [tool("cicc"), "-arch", arch, "--stub_file_name", f"{unit}.{arch}.cudafe1.stub.c", text, "-o", ptx]
        for code in sorted({code for virtual, code in job["pairs"] if virtual == arch != code}):
            yield [tool("ptxas"), f"-arch={code}", ptx, "-o", device_file(unit, arch, code)]
    images = [f"--image3=kind={'ptx' if code == arch else 'elf'},sm={code.split('_')[1]},file={device_file(unit, arch, code)}"
              for arch, code in job["pairs"]]
    yield [tool("fatbinary"), f"--create={unit}.fatbin", *images, f"--embedded-fatbin={unit}.fatbin.c"]
    yield [job["-ccbin"], "-c", "-x", "c++", *host_flags(argv), f"{host}.cpp", "-o", f"{unit}.o"]


def show_steps(argv):
    steps = [["PATH=" + os.environ.get("PATH", "")]]
    if setting("steps", False):
        steps += map(lambda step: [shlex.join(step)], steps_of(argv, parse(argv)))
    else:
        steps.append(["fake-nvcc --all-at-once"])
    for words in steps:
        print("#$", *words, file=sys.stderr)
    return 0


def ptx_of(text, arch):
    """Of the code alone, wherever it stands."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith((b"# ", b"//"))]
    return image_bytes(arch.encode() + b"\n".join(lines), setting("payload", 256))


def cubin_of(ptx, code):
    return b"\x7fELF" + image_bytes(code.encode() + ptx, setting("payload", 256))[4:]


def images_by_steps(argv, job):
    """Made in one go, as the steps make them."""
    ptx = {}
    for arch in virtual_archs(job):
        text = subprocess.run([*preprocess_command(argv, job, arch), "-"], stdout=subprocess.PIPE, check=True).stdout
        ptx[arch] = ptx_of(text, arch)
    return [entry(code, ptx[arch] if code == arch else cubin_of(ptx[arch], code)) for arch, code in job["pairs"]]


def value_of(argv, option):
    return argv[argv.index(option) + 1]


def run_cudafe(argv):
    """C++ that is what assemble() makes of the same functions."""
    code = "\n".join(f"asm({json.dumps(line + chr(10))});" for line in assembly_of(exported(read(argv[-1]))))
    stub = value_of(argv, "--stub_file_name")
    write_in_halves(value_of(argv, "--gen_c_file_name"), f'{code}\n#include "{stub}"\n'.encode(), 0)
    return 0


def run_cicc(argv):
    text = read(argv[argv.index("-o") - 1])
    source = os.fsdecode(re.search(rb'^# \d+ "([^"<]+)"', text, re.M).group(1))
    log_start(argv, source)
    if fails(source):
        return 2
    write_in_halves(value_of(argv, "--stub_file_name"), b"// kernels would be registered here\n", 0)
    output, pause = value_of(argv, "-o"), setting("sleep", 0) / 2
    time.sleep(pause)
    write_in_halves(output, ptx_of(text, value_of(argv, "-arch")), setting("slow", {}).get(output, pause))
    return 0


def run_ptxas(argv):
    output, code = value_of(argv, "-o"), argv[0].removeprefix("-arch=")
    write_in_halves(output, cubin_of(read(argv[1]), code), setting("slow", {}).get(output, 0))
    return 0


def run_fatbinary(argv):
    images = [re.fullmatch(r"--image3=kind=(\w+),sm=(\w+),file=(.*)", word).groups() for word in argv if "--image3" in word]
    entries = [entry(("sm_" if kind == "elf" else "compute_") + number, read(file)) for kind, number, file in images]
    output = argv[0].removeprefix("--create=")
    write_in_halves(output, container(entries), setting("slow", {}).get(output, 0))
    return 0


STEPS = {"cudafe++": run_cudafe, "cicc": run_cicc, "ptxas": run_ptxas, "fatbinary": run_fatbinary}



def run_step(name, argv):
    try:
        return STEPS[name](argv)
    except OSError as error:
        print(f"{name} fatal   : {error.strerror}: '{error.filename or argv[-1]}'", file=sys.stderr)
        return 1


# ---- the whole command


def compile_source(argv):
    job = parse(argv)
    log_start(argv, job["source"])
    if fails(job["source"]):
        return 2
    if "--keep" in argv:
        name = os.path.splitext(os.path.basename(job["source"]))[0]
        write_in_halves(name + ".module_id", b"_fake_module_id", 0)
    pause = setting("sleep", 0) / 2
    text = read(job["source"])
    headers = headers_of(job["source"], text)
    seed = b"\0".join([text, *map(read, headers), *map(os.fsencode, sorted(job["defines"]))])
    size = setting("payload", 256)
    by_seed = lambda: [entry(t, image_bytes(t.encode() + seed, size)) for t in job["targets"]]  # noqa: E731
    fatbin = container(images_by_steps(argv, job) if setting("steps", False) else by_seed())
    symbols = exported(text)
    time.sleep(pause)
    if inner := setting("inner", 0):
        subprocess.run(["sleep", str(inner)], check=True)
    try:
        if job["-MF"]:
            write_depfile(job, [job["source"], *headers])
        half_time = setting("slow", {}).get(os.path.basename(job["-o"]), pause)
        write_in_halves(job["-o"], assemble(assembly(symbols, fatbin)), half_time)
    except OSError as error:
        print(f"nvcc fatal   : {error.strerror}: '{error.filename or job['-o']}'", file=sys.stderr)
        return 1
    return 0


def main(argv):
    name = os.path.basename(sys.argv[0])
    if name in STEPS:
        return run_step(name, argv)
    if "--dryrun" in argv:
        return show_steps(argv)
    if argv == ["--version"]:
        return answer("version.txt")
    if argv == ["--help"]:
        return answer("help.txt")
    return compile_source(argv)


sys.exit(main(sys.argv[1:]))
