"""scikit-build-core's build backend, which also says on the terminal how far the compile is: pip shows nothing of it without
-v, and it takes minutes. Where there is no terminal, nothing is said."""

import contextlib
import pathlib
import re
import threading

from scikit_build_core import build as backend
from scikit_build_core.build import *  # noqa: F403

FOLDER = pathlib.Path("build") / "wheel-Release"  # `build-dir` in pyproject.toml, for its build type
SECONDS = 2


def objects(folder):
    """The objects that the build makes, once CMake has written its graph."""
    try:
        graph = (folder / "build.ninja").read_text()
    except OSError:
        return []
    return [folder / name for name in re.findall(r"^build (\S+\.o): CXX_COMPILER", graph, re.M)]


def progress(folder):
    wanted = objects(folder)
    made = sum(file.exists() for file in wanted)
    return f"{made} of {len(wanted)} files compiled" if wanted else "looking for compiler and libraries"


def say_progress(terminal, folder, done):
    said = ""
    while not done.wait(SECONDS):
        text = progress(folder)
        if text != said:
            terminal.write(f"\r\x1b[Kdsbuild: {text}")
            terminal.flush()
        said = text
    terminal.write("\r\x1b[K")


@contextlib.contextmanager
def shown_progress(folder):
    try:
        terminal = open("/dev/tty", "w", encoding="utf-8")
    except OSError:
        yield
        return
    with terminal:
        done = threading.Event()
        shower = threading.Thread(target=say_progress, args=(terminal, folder, done), daemon=True)
        shower.start()
        try:
            yield
        finally:
            done.set()
            shower.join()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    folder = pathlib.Path((config_settings or {}).get("build-dir", FOLDER))
    with shown_progress(folder):
        return backend.build_wheel(wheel_directory, config_settings, metadata_directory)
