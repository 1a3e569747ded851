"""A PEP 517 backend: setuptools' own, whose extensions of torch dsbuild builds (as DSBUILD=1 does for any project).

    [build-system]
    requires = ["setuptools", "torch", "dsbuild"]
    build-backend = "dsbuild.build_backend"

`pip install . --config-settings dsbuild=off` leaves the build to setuptools; `--config-settings dsbuild.jobs=4` gives dsbuild
the option `--jobs 4`, `dsbuild.offline=` one without a value.
"""

import contextlib
import inspect
import os
import shlex

from setuptools import build_meta

PREFIX = "dsbuild."
OFF = ("0", "off", "false", "no")


@contextlib.contextmanager
def hooked(settings):
    """The settings that are setuptools' own; the environment meanwhile says what is dsbuild's."""
    settings = dict(settings or {})
    on = str(settings.pop("dsbuild", "on")).lower() not in OFF
    options = shlex.split(os.environ.get("DSBUILD_OPTIONS", ""))
    for key in [key for key in settings if key.startswith(PREFIX)]:
        values = settings.pop(key)
        for value in values if isinstance(values, list) else [values]:
            options += ["--" + key[len(PREFIX):], *([value] if value else [])]
    before = {name: os.environ.get(name) for name in ("DSBUILD", "DSBUILD_OPTIONS")}
    os.environ.update(DSBUILD="1" if on else "0", DSBUILD_OPTIONS=shlex.join(options))
    try:
        yield settings or None
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _of_setuptools(name):
    """Its hook of that name, with its parameters."""
    function = getattr(build_meta, name)
    names = list(inspect.signature(function).parameters)

    def hook(*arguments, **keywords):
        given = {**dict(zip(names, arguments)), **keywords}
        with hooked(given.pop("config_settings", None)) as settings:
            return function(**given, config_settings=settings)

    return hook


# Those of PEP 517 and 660 that this setuptools has.
for _hook in ("build_wheel", "build_sdist", "build_editable"):
    for _name in (_hook, "get_requires_for_" + _hook, "prepare_metadata_for_" + _hook):
        if hasattr(build_meta, _name):
            globals()[_name] = _of_setuptools(_name)
