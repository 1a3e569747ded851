"""A C++ compiler for fault tests: the real one does the work, then this writes its output in two halves with a
pause between them, so that a test can kill it there. fake_toolkit.py makes it; fake.json beside it:

  real    path of the real compiler
  log     one JSON line per start: {"argv", "cwd", "pid"}
  slow    {"name.o.tmp": seconds}: the pause for outputs of that name
"""
import json
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def write_in_halves(path, data, mode, pause):
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    os.write(file, data[:len(data) // 2])
    time.sleep(pause)
    os.write(file, data[len(data) // 2:])
    os.close(file)


def main(argv):
    with open(os.path.join(HERE, "fake.json"), encoding="utf-8") as file:
        settings = json.load(file)
    real = settings["real"]
    if "-o" not in argv:
        os.execv(real, [real, *argv])
    line = json.dumps({"argv": argv, "cwd": os.getcwd(), "pid": os.getpid()}) + "\n"
    log = os.open(settings["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(log, line.encode())
    os.close(log)
    place = argv.index("-o") + 1
    output = argv[place]
    pause = settings.get("slow", {}).get(os.path.basename(output), 0)
    if not pause:
        os.execv(real, [real, *argv])
    whole = output + ".whole"
    child = os.spawnv(os.P_WAIT, real, [real, *argv[:place], whole, *argv[place + 1:]])
    if child != 0:
        return child
    with open(whole, "rb") as file:
        data = file.read()
    mode = os.stat(whole).st_mode & 0o777
    os.unlink(whole)
    write_in_halves(output, data, mode, pause)
    return 0


sys.exit(main(sys.argv[1:]))
