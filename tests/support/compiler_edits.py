"""Random changes of what stands in front of a compiler, and of what it reads unasked, for random_edits_test.py: as those of
edits.py."""

from edits import edit, header_text, set_environment, set_time


class Site:
    """A wrapper that starts one of several compilers, which all look for `specs` beside them; folders for variables."""

    def __init__(self, wrapper, compilers, folder):
        self.wrapper, self.compilers, self.folder = wrapper, compilers, folder
        for name in ("one", "two"):
            (folder / name).mkdir(parents=True)
        self.values = {
            "CPATH": self.lists(), "CPLUS_INCLUDE_PATH": self.lists(), "C_INCLUDE_PATH": self.lists(), "LIBRARY_PATH": self.lists(),
            "COMPILER_PATH": self.lists(), "GCC_EXEC_PREFIX": [f"{folder / 'one'}/", f"{folder / 'two'}/", ""],
            "SOURCE_DATE_EPOCH": ["1000000000", "1100000000", ""], "SPACK_OPTIONS": ["-DSITE=3", "-O1", ""],
            "NIX_CFLAGS": ["-O1", ""], "CCACHE_DIR": [str(folder), ""], "SITE_OPTIONS": ["-DSITE=4", "-DSITE=5", ""]}

    def lists(self):
        one, two = (str(self.folder / name) for name in ("one", "two"))
        return [one, two, f"{one}:{two}", f"{two}::{one}:relative", ""]


def wrapper(world):
    """What it starts, with what, by files beside it and above the build folders."""
    site = world.site
    if not site or not site.wrapper:
        return edit(world)
    options = world.choose(["", "-DSITE=1", "-DSITE=2", "-O1 -DSITE=1"])
    what = world.choose(["target", "options", "folder"])
    if what == "target":
        options = str(world.choose(site.compilers))
        site.wrapper.start(options)
    elif what == "options":
        site.wrapper.put_first(options)
    else:
        for checkout in world.checkouts:
            (checkout.space.root / ".site-options").write_text(options + "\n")
    world.tools[site.folder / f"wrapper's {what}"] = options
    return f"the wrapper's {what}: {options}"


def specs(world):
    """Beside a compiler, or in a folder of LIBRARY_PATH."""
    site = world.site
    if not site:
        return edit(world)
    folders = [site.folder / "one", site.folder / "two", *(compiler.parent for compiler in site.compilers)]
    file = world.choose(folders) / "specs"
    if file.exists() and world.generator.random() < 0.4:
        file.unlink()
        world.tools[file] = 0
        return f"{file.parent.name}/specs goes"
    world.tools[file] = world.number()
    time = file.stat().st_mtime_ns if file.exists() and world.generator.random() < 0.5 else None
    file.write_text(f"-DSITE={world.tools[file]}\n")
    if time:
        set_time(file, time)
    return f"edit {file.parent.name}/specs"


def in_folder_of_variables(world):
    """A header or a program comes to a folder that variables may name, or goes."""
    site = world.site
    if not site:
        return edit(world)
    file = site.folder / world.choose(["one", "two"]) / world.choose(["own.h", "a.h", "cc1plus", "as", "ld"])
    if file.exists() and world.generator.random() < 0.5:
        file.unlink()
        world.tools[file] = 0
        return f"{file.parent.name}/{file.name} goes"
    world.tools[file] = world.number()
    letter = {"own.h": "H", "a.h": "A"}.get(file.name)
    file.write_text(header_text(letter, world.tools[file]) if letter else f"{world.tools[file]}\n")
    return f"edit {file.parent.name}/{file.name}"


def set_site_variable(world):
    if not world.site:
        return set_environment(world)
    name, values = world.choose(world.site.values.items())
    value = world.choose(values)
    world.environment.pop(name, None)
    if value:
        world.environment[name] = value
    return f"{name}={value}"


def pass_environment(world):
    """The pack asks for SITE_OPTIONS, or no longer."""
    file = world.checkout.space.pack.folder / "pack.yaml"
    line = "pass_environment: [SITE_OPTIONS]\n"
    text = file.read_text()
    file.write_text(text.replace(line, "") if line in text else text + line)
    return "pass_environment of pack.yaml"


CHANGES = [wrapper, wrapper, specs, in_folder_of_variables, set_site_variable, set_site_variable, pass_environment]
