#!/usr/bin/env python3
"""`dsbuild wheel` and `dsbuild install`: what they make is what pip takes, it gives DeepSpeed its ops, and no order of
installing, upgrading and removing the two damages either."""

import hashlib
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from distributions import (NAME, OPS, PYTHON, SUFFIX, Venv, deepspeed_files, digest, edit_manifest, make_pack,  # noqa: E402
                           torch_files, write_wheel)
from testspace import SEED, TestSpace, count, deep, main, skip  # noqa: E402

MODULES = list(OPS.values())


class Shop:
    """Bundles, their wheels, and the stand-ins' wheels; made once."""

    def __init__(self):
        self.space = TestSpace(pack=make_pack)
        built = self.space.build()
        assert built.code == 0, built
        self.wheels = self.space.root / "wheels"
        self.deepspeed = {version: write_wheel(self.wheels, "deepspeed", version, deepspeed_files(version))
                          for version in ("0.19.8", "0.19.9")}
        self.torch = write_wheel(self.wheels, "torch", "2.11.0", torch_files())
        self.bundle = {version: self.make_bundle(version, source_version=version) for version in ("0.19.8", "0.19.9")}
        self.ops = {version: self.make_wheel(bundle) for version, bundle in self.bundle.items()}

    def make_bundle(self, name, **facts):
        bundle = self.space.root / f"bundle-{name}"
        shutil.copytree(self.space.out, bundle)
        edit_manifest(bundle, **facts)
        return bundle

    def make_wheel(self, bundle, folder="."):
        run = self.space.run("wheel", str(bundle), "--wheel-dir", str(self.wheels / folder), "--index", "own", "--json")
        assert run.code == 0, run
        return pathlib.Path(json.loads(run.out)["wheel"])

    def install(self, bundle, site):
        return self.space.run("install", str(bundle), "--target", str(site))

    def remove(self, site):
        return self.space.run("install", "--remove", "--target", str(site))


def setUpModule():
    global SHOP, VENV
    if subprocess.run([sys.executable, "-c", "import ensurepip"], stderr=subprocess.DEVNULL, check=False).returncode:
        skip("Python has no ensurepip (Debian: python3-venv)")
    SHOP = Shop()
    VENV = Venv(SHOP.space.root / "venv")
    VENV.install(SHOP.torch)


def tearDownModule():
    VENV.close()


class WheelFileTest(unittest.TestCase):
    """The file itself, by Python's own zipfile."""

    def setUp(self):
        self.wheel = SHOP.ops["0.19.8"]
        self.archive = zipfile.ZipFile(self.wheel)
        self.addCleanup(self.archive.close)
        self.info = "-".join(self.wheel.name.split("-")[:2]) + ".dist-info"

    def text(self, name):
        return self.archive.read(f"{self.info}/{name}").decode()

    def test_its_name_says_deepspeed_torch_cuda_python_and_machine(self):
        self.assertRegex(self.wheel.name, rf"^{NAME}-0\.19\.8\+cu130torch211-{PYTHON}-{PYTHON}-"
                                          rf"manylinux_2_17_{os.uname().machine}\.whl$")
        self.assertIn(f"Tag: {PYTHON}-{PYTHON}-manylinux_2_17_{os.uname().machine}\n", self.text("WHEEL"))

    def test_it_holds_the_modules_what_deepspeed_asks_and_nothing_of_deepspeeds_own(self):
        modules = [f"{NAME}/{module.replace('.', '/')}{SUFFIX}" for module in MODULES]
        self.assertEqual(sorted(self.archive.namelist()), sorted(
            [f"{NAME}.pth", f"{NAME}/__init__.py", f"{NAME}/ops.py", f"{NAME}/manifest.json", *modules,
             f"{NAME}/deepspeed/git_version_info_installed.py",
             *(f"{self.info}/{name}" for name in ("METADATA", "WHEEL", "entry_points.txt", "RECORD"))]))
        for op, path in zip(OPS, modules):
            self.assertEqual(self.archive.read(path), (SHOP.space.out / f"{op}.so").read_bytes())

    def test_what_deepspeed_asks_has_its_six_names(self):
        said = {}
        exec(self.archive.read(f"{NAME}/deepspeed/git_version_info_installed.py"), said)
        del said["__builtins__"]
        self.assertEqual(said, {
            "version": "0.19.8", "git_hash": "unknown", "git_branch": "unknown", "accelerator_name": "cuda",
            "installed_ops": dict.fromkeys(OPS, True), "torch_info": {
                "version": "2.11", "bf16_support": False, "cuda_version": "13.0", "nccl_version": "0.0", "hip_version": "0.0"}})

    def test_record_is_right_and_last(self):
        self.assertIsNone(self.archive.testzip())
        self.assertEqual(self.archive.namelist()[-1], f"{self.info}/RECORD")
        lines = dict(line.split(",", 1) for line in self.text("RECORD").splitlines())
        self.assertEqual(lines.pop(f"{self.info}/RECORD"), ",")
        self.assertEqual(lines, {name: f"sha256={digest(self.archive.read(name))},{len(self.archive.read(name))}"
                                 for name in self.archive.namelist()[:-1]})

    def test_nothing_in_it_tells_when_or_by_whom_it_was_made(self):
        for entry in self.archive.infolist():
            self.assertEqual((entry.date_time, entry.external_attr >> 16, entry.extra, entry.comment),
                             ((1980, 1, 1, 0, 0, 0), 0o100644, b"", b""), entry.filename)

    def test_the_same_bundle_elsewhere_gives_the_same_bytes(self):
        copy = SHOP.space.root / "elsewhere" / "bundle"
        shutil.copytree(SHOP.bundle["0.19.8"], copy)
        run = SHOP.space.run("wheel", str(copy), "--wheel-dir", str(copy.parent), "--index", "own")
        self.assertEqual(run.code, 0, run)
        self.assertEqual((copy.parent / self.wheel.name).read_bytes(), self.wheel.read_bytes())

    def test_a_large_file_comes_back_whole(self):
        bundle = SHOP.make_bundle("large")
        library = bundle / "fused_adam.so"
        content = library.read_bytes() + random.Random(1).randbytes(3 << 20) + bytes(30 << 20)
        library.write_bytes(content)
        edit_manifest(bundle, fused_adam={"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()})
        with zipfile.ZipFile(SHOP.make_wheel(bundle, "large")) as archive:
            entry = archive.getinfo(f"{NAME}/deepspeed/ops/adam/fused_adam_op{SUFFIX}")
            self.assertEqual(archive.read(entry), content)
            self.assertLess(entry.compress_size, 4 << 20)


class State:
    """What should be there: a version of deepspeed, a version of the ops and who installed them."""

    def __init__(self, deepspeed=None, ops=None, by=None):
        self.deepspeed, self.ops, self.by = deepspeed, ops, by

    def __str__(self):
        return f"deepspeed {self.deepspeed}, ops {self.ops} by {self.by}"

    def problems(self, venv):
        """How what is there differs from what should be."""
        seen = venv.probe(*MODULES)
        found = [f"damaged: {file}" for file in venv.damaged_files()]
        if not (self.deepspeed or self.ops) and venv.entries():
            found.append(f"left behind: {venv.entries()}")
        if not self.deepspeed:
            return found + ([] if seen.get("absent") == "deepspeed" else [f"deepspeed is still there: {seen}"])
        used = self.ops == self.deepspeed
        wanted = {"version": self.deepspeed, "git_hash": "edaa7221", "installed": sorted(OPS) if used else []}
        found += [f"{key} is {seen.get(key)}, not {value}" for key, value in wanted.items() if seen.get(key) != value]
        if used != (sorted(seen["modules"]) == sorted(MODULES)) or (not used and seen["modules"]):
            found.append(f"modules: {seen['modules']} {seen['errors']}")
        if bool(self.ops and not used) != any("is for DeepSpeed" in text for text in seen["warnings"]):
            found.append(f"warnings: {seen['warnings']}")
        return found


class Steps:
    """What a user may do, in any order: what it makes of a state, and how it is done."""

    def __init__(self, shop, compiled=False):
        self.shop, self.compiled = shop, compiled

    def install(self, venv, wheel):
        return venv.install(wheel, compiled=self.compiled) == 0

    def all(self):
        shop, steps = self.shop, {}
        for version in shop.deepspeed:
            steps[f"pip install deepspeed=={version}"] = (
                lambda state, v=version: State(v, state.ops, state.by),
                lambda venv, v=version: self.install(venv, shop.deepspeed[v]))
            steps[f"pip install ops for {version}"] = (
                # pip leaves the version that is there, whoever put it there.
                lambda state, v=version: state if state.ops == v else State(state.deepspeed, v, "pip"),
                lambda venv, v=version: self.install(venv, shop.ops[v]))
        steps["dsbuild install"] = (lambda state: State(state.deepspeed, "0.19.8", "dsbuild"),
                                    lambda venv: shop.install(shop.bundle["0.19.8"], venv.site).code == 0)
        steps["pip uninstall deepspeed"] = (lambda state: State(None, state.ops, state.by),
                                            lambda venv: venv.remove("deepspeed") == 0)
        steps["pip uninstall ops"] = (lambda state: State(state.deepspeed),
                                      lambda venv: venv.remove(NAME) == 0)
        steps["dsbuild install --remove"] = (
            lambda state: State(state.deepspeed) if state.by == "dsbuild" else state,
            lambda venv: shop.remove(venv.site).code in (0, 1))
        return steps


class Exploring(unittest.TestCase):
    def setUp(self):
        VENV.clear()

    def explore(self, shop=None):
        """Tries each step from each state that can be reached. Two ways that end in the same files go on alike, and should be
        the same state, so this is every sequence of steps, however long. Returns the first problem found and how many states
        there are."""
        steps = Steps(shop or SHOP).all()
        saved = pathlib.Path(tempfile.mkdtemp(dir=SHOP.space.root))
        seen = {json.dumps(VENV.state()): str(State())}
        VENV.save(saved / "1")
        waiting = [(1, State(), [])]
        while waiting:
            number, state, way = waiting.pop(0)
            for name, (result, do) in steps.items():
                VENV.restore(saved / str(number))
                done, after = do(VENV), result(state)
                problems = after.problems(VENV) + ([] if done else [f"failed: {VENV.said()}"])
                if problems:
                    return " > ".join([*way, name]) + f": {problems}", len(seen)
                files = json.dumps(VENV.state())
                if files not in seen:
                    seen[files] = str(after)
                    VENV.save(saved / str(len(seen)))
                    waiting.append((len(seen), after, [*way, name]))
                elif seen[files] != str(after):
                    return " > ".join([*way, name]) + f": the files of {seen[files]}, not of {after}", len(seen)
        return None, len(seen)


class OrderTest(Exploring):
    def test_deepspeed_works_after_every_order(self):
        problem, states = self.explore()
        self.assertIsNone(problem)
        # deepspeed: none or one of two; ops: none, two versions by pip, one by dsbuild.
        self.assertEqual(states, 3 * 4)

    def test_also_with_bytecode_and_many_steps(self):
        """Python and pip leave __pycache__ folders, which depend on times."""
        steps, state, way = Steps(SHOP, compiled=True).all(), State(), []
        choose = random.Random(SEED)
        VENV.environment["PYTHONDONTWRITEBYTECODE"] = ""
        self.addCleanup(VENV.environment.update, PYTHONDONTWRITEBYTECODE="1")
        for _ in range(count(4, 200, deep_too=12)):
            name = choose.choice(sorted(steps))
            result, do = steps[name]
            way.append(name)
            self.assertTrue(do(VENV), f"seed {SEED}: {way}: {VENV.said()}")
            state = result(state)
            self.assertEqual(state.problems(VENV), [], f"seed {SEED}: {way}")

    def test_pip_check_is_fine_whatever_is_there(self):
        for deepspeed in (None, "0.19.8", "0.19.9"):
            VENV.clear()
            wheels = [SHOP.ops["0.19.8"], SHOP.torch, *([SHOP.deepspeed[deepspeed]] if deepspeed else [])]
            self.assertEqual(VENV.install(*wheels), 0, VENV.said())
            self.assertEqual(VENV.pip("check"), 0, VENV.said())

    def test_ops_that_deepspeed_built_itself_come_back(self):
        own = {f"deepspeed/ops/adam/fused_adam_op{SUFFIX}": (SHOP.space.out / "fused_adam.so").read_bytes()}
        wheel = write_wheel(SHOP.wheels / "own", "deepspeed", "0.19.8",
                            deepspeed_files("0.19.8", ["fused_adam"], extra=own))
        for order in ([wheel, SHOP.ops["0.19.8"]], [SHOP.ops["0.19.8"], wheel]):
            VENV.clear()
            for one in order:
                self.assertEqual(VENV.install(one), 0)
            both = VENV.probe(*MODULES)
            self.assertEqual(both["installed"], sorted(OPS))
            self.assertEqual({NAME in file for file in both["modules"].values()}, {True}, both)
            self.assertEqual(VENV.remove(NAME), 0)
            alone = VENV.probe(*MODULES)
            self.assertEqual((alone["installed"], list(alone["modules"])), (["fused_adam"], [OPS["fused_adam"]]))
            self.assertEqual(VENV.damaged_files(), [])

    def test_own_ops_for_another_accelerator_are_not_claimed(self):
        """DeepSpeed knows one accelerator for all ops, and it is now that of ours."""
        own = deepspeed_files("0.19.8", ["other"], accelerator="cpu")
        own["deepspeed/git_version_info_installed.py"] += "installed_ops['other'] = True\n"
        VENV.install(write_wheel(SHOP.wheels / "cpu", "deepspeed", "0.19.8", own), SHOP.ops["0.19.8"])
        seen = VENV.probe()
        self.assertEqual((seen["installed"], seen["accelerator"]), (sorted(OPS), "cuda"))
        self.assertEqual(seen["torch"]["nccl_version"], "0.0", "not known")

    def test_what_deepspeed_knows_of_the_same_torch_stays(self):
        """Its NCCL version: only a program that imports torch can ask for it."""
        VENV.install(SHOP.deepspeed["0.19.8"], SHOP.ops["0.19.8"])
        self.assertEqual(VENV.probe()["torch"]["nccl_version"], "2.2")


class RealDeepSpeedTest(unittest.TestCase):
    """The real deepspeed beside the real torch finds the ops; the modules are the stand-ins."""

    # As a site folder, whose .pth files are read.
    LOAD = """
import site, sys
site.addsitedir(sys.argv[1])
from deepspeed import git_version_info
from deepspeed.ops.op_builder import FusedAdamBuilder, SpatialInferenceBuilder
print("installed", sorted(op for op, there in git_version_info.installed_ops.items() if there))
print("loaded", FusedAdamBuilder().load().__file__, SpatialInferenceBuilder().load().__file__)
"""

    def setUp(self):
        VENV.clear()

    def real(self, variable, default):
        path = pathlib.Path(os.environ.get(variable) or pathlib.Path.home() / ".cache" / "dsbuild" / default)
        if not path.exists():
            self.skipTest(f"{path} is not there ({variable})")
        return path

    @deep
    def test_it_loads_the_ops(self):
        torch_python = self.real("DSBUILD_TORCH_PYTHON", "torch/venv/bin/python")
        source = self.real("DSBUILD_DEEPSPEED_SOURCES", "deepspeed") / "0.19.8"
        ask = "import json, sysconfig, torch; print(json.dumps([sysconfig.get_config_var('EXT_SUFFIX'), "\
              "sysconfig.get_path('purelib'), torch.__version__, torch.version.cuda or '']))"
        suffix, libraries, version, cuda = json.loads(subprocess.check_output([torch_python, "-c", ask]))
        if suffix != SUFFIX:
            self.skipTest(f"the torch there is for {suffix}, this is {SUFFIX}")
        root = SHOP.space.root / "real"
        site = root / "site-packages"
        shutil.copytree(source, root / "source")
        environment = {**VENV.environment, "DS_ACCELERATOR": "cuda", "PYTHONPATH": libraries}
        subprocess.run([VENV.python, "-m", "pip", "install", "--no-deps", "--no-build-isolation", "--no-compile", "--quiet",
                        "--target", site, root / "source"], env=environment, check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(SHOP.install(SHOP.make_bundle("real", torch={"version": version, "cuda": cuda}), site).code, 0)
        said = subprocess.check_output([VENV.python, "-c", self.LOAD, site], env=environment, cwd=root, text=True)
        self.assertIn(f"installed {sorted(OPS)}\n", said)
        files = [f"{site / NAME}/deepspeed/ops/{module}_op{SUFFIX}" for module in ("adam/fused_adam", "spatial/spatial_inference")]
        self.assertIn(f"loaded {' '.join(files)}\n", said)


class SimplerTest(Exploring):
    """What the exploration finds where the wheel is made in a simpler way: the protections are there for something."""

    def remade(self, change):
        """A shop whose wheels' files were changed."""
        shop = Shop.__new__(Shop)
        shop.__dict__.update(SHOP.__dict__, ops={})
        for version, wheel in SHOP.ops.items():
            with zipfile.ZipFile(wheel) as archive:
                files = {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}
            shop.ops[version] = write_wheel(SHOP.wheels / change.__name__, NAME, version, change(files))
        return shop

    def test_with_the_files_in_deepspeeds_own_folder(self):
        def simple(files):
            return {name.removeprefix(f"{NAME}/"): data for name, data in files.items() if name.startswith(f"{NAME}/deepspeed")}

        shop = self.remade(simple)
        problem, _ = self.explore(shop)
        self.assertIn("deepspeed is still there", problem)
        VENV.clear()
        for wheel in (shop.deepspeed["0.19.8"], shop.ops["0.19.8"]):
            self.assertEqual(VENV.install(wheel), 0)
        VENV.remove(NAME)
        self.assertIn("damaged: deepspeed-0.19.8.dist-info: deepspeed/git_version_info_installed.py",
                      State("0.19.8").problems(VENV))

    def test_without_looking_at_deepspeeds_version(self):
        def trusting(files):
            old = files[f"{NAME}/ops.py"].decode()
            text = old.replace("return not wanted or release(version) == release(wanted)", "return True")
            assert text != old
            return {**files, f"{NAME}/ops.py": text}

        problem, _ = self.explore(self.remade(trusting))
        self.assertIn(f"installed is {sorted(OPS)}, not []", problem)


class RefusalTest(unittest.TestCase):
    """Another torch, CUDA, Python or a lesser CPU is refused by name, and it is the check that does it."""

    def setUp(self):
        VENV.clear()
        self.addCleanup(VENV.install, "--force-reinstall", SHOP.torch)

    def loaded(self, facts=None, torch=None, **ops):
        """What importing fused_adam says, with ops built for `facts` beside the stand-in `torch`."""
        VENV.clear()
        bundle = SHOP.make_bundle(f"refused-{len(list(SHOP.space.root.iterdir()))}", torch=facts, **ops)
        self.assertEqual(VENV.install(SHOP.deepspeed["0.19.8"]), 0)
        if torch:
            self.assertEqual(VENV.install("--force-reinstall", torch), 0)
        self.assertEqual(SHOP.install(bundle, VENV.site).code, 0)
        refused = VENV.probe(OPS["fused_adam"])["errors"].get(OPS["fused_adam"], "")
        ops_file = VENV.site / NAME / "ops.py"
        text = ops_file.read_text()
        ops_file.write_text(text.replace("reason = refusal(", "reason = '' and refusal("))
        unchecked = VENV.probe(OPS["fused_adam"])
        self.assertIn(OPS["fused_adam"], unchecked["modules"], "without the check it is loaded")
        return refused

    def torch(self, version="2.11.0+cu130", **facts):
        return write_wheel(SHOP.wheels / f"torch-{version}-{facts}", "torch", version.partition("+")[0],
                           torch_files(version, **facts))

    def test_what_fits_is_loaded(self):
        self.assertEqual(self.loaded(), "")
        self.assertEqual(self.loaded(torch=self.torch("2.11.3+cu130")), "", "a patch release")

    def test_another_torch(self):
        self.assertRegex(self.loaded(torch=self.torch("2.12.0+cu130")),
                         "ImportError: .*fused_adam is built for torch 2.11, and this is torch 2.12. Build the ops again")

    def test_another_cuda(self):
        self.assertIn("is built for torch with CUDA 13.0, and this is torch with CUDA 12.8",
                      self.loaded(torch=self.torch("2.11.0+cu128", cuda="12.8")))
        self.assertIn("and this is torch with CUDA none", self.loaded(torch=self.torch("2.11.0+cpu", cuda=None)))

    def test_another_abi(self):
        self.assertIn("torch with _GLIBCXX_USE_CXX11_ABI=1, and this is torch with _GLIBCXX_USE_CXX11_ABI=0",
                      self.loaded(torch=self.torch(abi=False)))

    def test_another_python(self):
        suffix = ".cpython-399-x86_64-linux-gnu.so"
        self.assertRegex(self.loaded({"python": "cp399", "ext_suffix": suffix}),
                         "is built for Python cp399, and this is cpython-3")

    def test_a_lesser_cpu(self):
        needs = {"cpu_baseline": {"level": "x86-64-v9", "features": ["fpu", "avx9999", "wings"]}}
        if os.uname().machine != "x86_64":
            needs["cpu_baseline"]["features"].remove("fpu")
        self.assertIn("is built for x86-64-v9, and this CPU lacks avx9999, wings. Build", self.loaded(fused_adam=needs))
        VENV.clear()
        VENV.install(SHOP.deepspeed["0.19.8"])
        SHOP.install(SHOP.make_bundle("one-lesser", fused_adam=needs), VENV.site)
        self.assertIn(OPS["cpu_adam"], VENV.probe(*MODULES)["modules"], "the other op is none of its concern")

    def test_pip_refuses_another_torch(self):
        self.assertEqual(VENV.install("--force-reinstall", self.torch("2.12.0+cu130")), 0)
        self.assertNotEqual(VENV.pip("install", SHOP.ops["0.19.8"]), 0)
        self.assertRegex(VENV.said(), r"No matching distribution found for torch==2\.11\.\*")
        self.assertEqual(VENV.install(SHOP.ops["0.19.8"]), 0)
        self.assertNotEqual(VENV.pip("check"), 0)
        self.assertIn("has requirement torch==2.11.*, but you have torch 2.12.0", VENV.said())

    def test_pip_refuses_another_python(self):
        wheel = SHOP.make_wheel(SHOP.make_bundle("cp399", torch={"python": "cp399"}))
        self.assertNotEqual(VENV.install(wheel), 0)
        self.assertIn("is not a supported wheel on this platform", VENV.said())

    def test_a_torch_of_any_label_is_taken_by_pip(self):
        self.assertEqual(VENV.install("--force-reinstall", write_wheel(
            SHOP.wheels / "labelled", "torch", "2.11.0+cu130", torch_files())), 0)
        self.assertEqual(VENV.pip("install", SHOP.ops["0.19.8"]), 0, VENV.said())


class InstallTest(unittest.TestCase):
    def setUp(self):
        VENV.clear()
        self.target = pathlib.Path(tempfile.mkdtemp(dir=SHOP.space.root)) / "site-packages"
        self.bundle = SHOP.bundle["0.19.8"]

    def files(self, folder):
        return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())

    def test_it_lays_out_what_pip_lays_out(self):
        self.assertEqual(VENV.install(SHOP.ops["0.19.8"]), 0)
        by_pip = {path: data for path, data in VENV.state().items() if ".dist-info/" not in path}
        VENV.clear()
        self.assertEqual(SHOP.install(self.bundle, VENV.site).code, 0)
        by_dsbuild = {path: data for path, data in VENV.state().items() if ".dist-info/" not in path}
        self.assertEqual(by_dsbuild, by_pip)
        self.assertEqual(VENV.pip("show", "--files", NAME), 0)
        self.assertRegex(VENV.said(), r"(?s)Name: dsbuild-deepspeed-ops\nVersion: 0\.19\.8.*fused_adam_op")

    def test_a_second_install_replaces_the_first_and_remove_takes_all_away(self):
        for version in ("0.19.9", "0.19.8", "0.19.8"):
            self.assertEqual(SHOP.install(SHOP.bundle[version], self.target).code, 0)
            self.assertEqual([path.name.split("+")[0] for path in self.target.glob("*.dist-info")], [f"{NAME}-{version}"])
        (self.target / "other.py").write_text("")
        run = SHOP.remove(self.target)
        self.assertRegex(run.out, rf"^removed {NAME}-0\.19\.8\+.* from ")
        self.assertEqual(self.files(self.target), ["other.py"])

    def test_a_killed_install_is_healed_by_the_next(self):
        """Whatever was there when it was killed: each of the entries may be missing or of another version."""
        self.assertEqual(SHOP.install(self.bundle, self.target).code, 0)
        whole = self.files(self.target)
        for entry in sorted(self.target.iterdir()):
            with self.subTest(lost=entry.name):
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
                (self.target / f".{NAME}.dsbuild-staging" / "half").mkdir(parents=True)
                self.assertEqual(SHOP.install(self.bundle, self.target).code, 0)
                self.assertEqual(self.files(self.target), whole)

    def test_python_starts_as_fast_with_it(self):
        """Before deepspeed is imported, two small files are read and nothing else."""
        self.assertEqual(SHOP.install(self.bundle, VENV.site).code, 0)
        run = subprocess.run([VENV.python, "-c", "import sys; print(*sys.modules)"], stdout=subprocess.PIPE, text=True,
                             env=VENV.environment, check=True)
        loaded = set(run.stdout.split())
        self.assertIn(NAME, loaded)
        self.assertFalse(loaded & {f"{NAME}.ops", "json", "functools"}, loaded)


if __name__ == "__main__":
    main()
