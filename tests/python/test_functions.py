"""The stub of the native ops (python/dsbuild/native.pyi) against the libraries of a bundle: every argument that it names
stands where it says, has the type and the default that it says, and is refused by its name.

The bundle's folder is named by DSBUILD_BUNDLE, another stub by DSBUILD_STUB. DSBUILD_FUNCTIONS is a JSON file of what the
functions.yaml of each op says beside names and types (tests/cli/functions_test.py writes it). No GPU is needed: arguments
are read before a device is looked at.
"""

import ast
import json
import os
import pathlib
import tempfile
import unittest

import support  # exits with 77 where something is missing

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
STUB = pathlib.Path(os.environ.get("DSBUILD_STUB") or ROOT / "python" / "dsbuild" / "native.pyi")
FACTS = json.loads(pathlib.Path(os.environ["DSBUILD_FUNCTIONS"]).read_text()) if "DSBUILD_FUNCTIONS" in os.environ else \
    support.skip("DSBUILD_FUNCTIONS is not set (tests/cli/functions_test.py sets it)")
EXPECTED = {"Tensor": "a tensor", "Tensor | None": "a tensor or None", "Sequence[Tensor]": "a list of tensors",
            "Sequence[int]": "a list of integers", "float": "a number", "int": "an integer", "bool": "a bool", "str": "a string",
            "float | Tensor": "a number or a tensor", "int | Tensor": "an integer or a tensor",
            "Dtype": "a dtype", "AsyncIoHandle": "a handle of async_io_open"}
TENSORS = ("Tensor", "Tensor | None", "Sequence[Tensor]")  # a number that may be a tensor is none of them
ARRAY_SHAPE = (1, 8, 1, 8)  # that evoformer_attn_scratch takes too


class Parameter:
    """One of the stub."""

    def __init__(self, node, default):
        self.name = node.arg
        self.type = ast.unparse(node.annotation)
        self.choices = ast.literal_eval(f"({self.type[len('Literal['):-1]},)") if self.type.startswith("Literal[") else ()
        if self.choices:
            self.type = type(self.choices[0]).__name__
        self.has_default = default is not None
        self.default = ast.literal_eval(default) if self.has_default else None


def read_stub():
    """{function: ([Parameter], what it returns)}"""
    functions = {}
    for group in ast.parse(STUB.read_text()).body:
        for node in group.body if isinstance(group, ast.ClassDef) else []:
            if not isinstance(node, ast.FunctionDef) or not node.args.posonlyargs:
                continue  # what describes Tensor and Dtype
            names = node.args.posonlyargs[1:]
            defaults = [None] * (len(names) - len(node.args.defaults)) + node.args.defaults
            functions[node.name] = ([Parameter(*pair) for pair in zip(names, defaults)], ast.unparse(node.returns))
    return functions


STUBS = read_stub()
MODULES = {op: support.load_op(op) for op in FACTS
           if os.path.exists(os.path.join(os.environ.get("DSBUILD_BUNDLE", ""), op + ".so"))}


def error_of(call):
    try:
        call()
    except (TypeError, ValueError, RuntimeError) as error:
        return error
    return None


def of_each_function(backend=None):
    """The test is of one function: its module and name, the stub's parameters, the facts of each argument."""
    def mark(test):
        def run(self):
            for op in sorted(MODULES):
                for name, facts in FACTS[op].items():
                    if backend in (None, facts["backend"]):
                        with self.subTest(function=name):
                            self.assertIn(name, STUBS)
                            test(self, MODULES[op], name, STUBS[name][0], {fact["name"]: fact for fact in facts["arguments"]})
        run.__name__ = test.__name__
        return run
    return mark


class Case(unittest.TestCase):
    maxDiff = None

    def right(self, module, parameter, facts):
        """A value of the parameter's type."""
        if parameter.type == "AsyncIoHandle":
            return module.async_io_open()
        if parameter.type in ("Tensor", "Tensor | None"):
            return np.ones(ARRAY_SHAPE, np.float32)
        if parameter.type == "Sequence[Tensor]":
            return []
        return parameter.default if parameter.has_default else facts[parameter.name]["right"]

    def rights(self, module, parameters, facts):
        return [self.right(module, parameter, facts) for parameter in parameters]

    def assert_named(self, error, kind, function, parameter, words):
        self.assertIsInstance(error, kind)
        begin = f"{function}: {parameter}: {words}"
        self.assertEqual(str(error)[:len(begin)], begin)


class Functions(Case):
    def test_there_are_ops(self):
        self.assertEqual(sorted(MODULES), sorted(os.environ.get("DSBUILD_FUNCTIONS_OF", "").split(",")))

    @of_each_function()
    def test_right_values_are_taken(self, module, name, parameters, facts):
        error = error_of(lambda: getattr(module, name)(*self.rights(module, parameters, facts)))
        self.assertNotIsInstance(error, TypeError)

    @of_each_function()
    def test_each_argument_that_must_be_given_is_missed_by_name(self, module, name, parameters, facts):
        rights = self.rights(module, parameters, facts)
        for position, parameter in enumerate(parameters):
            if parameter.has_default:
                break
            error = error_of(lambda: getattr(module, name)(*rights[:position]))
            self.assert_named(error, TypeError, name, parameter.name, "missing argument")

    @of_each_function()
    def test_one_too_many_is_refused(self, module, name, parameters, facts):
        error = error_of(lambda: getattr(module, name)(*self.rights(module, parameters, facts), None))
        self.assertIsInstance(error, TypeError)
        self.assertIn(f"takes at most {len(parameters)} arguments, got {len(parameters) + 1}", str(error))

    @of_each_function()
    def test_another_type_is_refused_by_name_at_each_position(self, module, name, parameters, facts):
        for position, parameter in enumerate(parameters):
            values = self.rights(module, parameters, facts)
            values[position] = 3 if parameter.type in ("str", "Dtype") else "wrong"
            error = error_of(lambda: getattr(module, name)(*values))
            self.assert_named(error, TypeError, name, parameter.name, f"expected {EXPECTED[parameter.type]}, got ")

    @of_each_function()
    def test_an_item_of_another_type_is_refused_by_name(self, module, name, parameters, facts):
        for position, parameter in enumerate(parameters):
            if not parameter.type.startswith("Sequence"):
                continue
            values = self.rights(module, parameters, facts)
            values[position] = ["wrong"]
            one = "a tensor" if "Tensor" in parameter.type else "an integer"
            self.assert_named(error_of(lambda: getattr(module, name)(*values)), TypeError, name, parameter.name + "[0]",
                              f"expected {one}, got str")

    @of_each_function()
    def test_none_is_taken_where_the_stub_says_so(self, module, name, parameters, facts):
        for position, parameter in enumerate(parameters):
            values = self.rights(module, parameters, facts)
            values[position] = None
            error = error_of(lambda: getattr(module, name)(*values))
            if parameter.type.endswith("| None"):
                self.assertNotIsInstance(error, TypeError)
            else:
                self.assert_named(error, TypeError, name, parameter.name, "expected ")

    @of_each_function()
    def test_a_choice_is_taken_and_nothing_else(self, module, name, parameters, facts):
        for position, parameter in enumerate(parameters):
            values = self.rights(module, parameters, facts)
            for choice in parameter.choices:
                values[position] = choice
                self.assertNotIn(f"{parameter.name}: expected ", str(error_of(lambda: getattr(module, name)(*values))))
            if parameter.choices:
                values[position] = "wrong" if parameter.type == "str" else 3
                self.assert_named(error_of(lambda: getattr(module, name)(*values)), ValueError, name, parameter.name, "expected ")

    @of_each_function()
    def test_a_value_that_is_not_what_it_must_be_is_refused_in_those_words(self, module, name, parameters, facts):
        for position, parameter in enumerate(parameters):
            if facts[parameter.name]["must"]:
                values = self.rights(module, parameters, facts)
                values[position] = facts[parameter.name]["refused"]
                self.assert_named(error_of(lambda: getattr(module, name)(*values)), ValueError, name, parameter.name,
                                  "expected " + facts[parameter.name]["must"])


ARRAY_OF = {"float32": lambda: np.ones(ARRAY_SHAPE, np.float32), "float16": lambda: np.ones(ARRAY_SHAPE, np.float16),
            "bfloat16": lambda: support.tensor(support.bfloat16_bits(np.ones(ARRAY_SHAPE)))}


class Calls(Case):
    """Those that work without a GPU: what they take, write and return."""

    def live(self, module, parameters, facts):
        """As `rights`, with elements, no two of them alike, and a file."""
        values = self.rights(module, parameters, facts)
        for position, parameter in enumerate(parameters):
            array = np.full(ARRAY_SHAPE, position + 1.5, np.float32)
            if parameter.name == "path":
                np.full(ARRAY_SHAPE, 99, np.float32).tofile(self.file.name)
                values[position] = self.file.name
            elif parameter.type in ("Tensor", "Tensor | None"):
                values[position] = array
            elif parameter.type == "Sequence[Tensor]":
                values[position] = [array]
        return values

    def setUp(self):
        self.file = tempfile.NamedTemporaryFile()
        self.addCleanup(self.file.close)

    def arrays_after(self, module, name, parameters, values, count):
        """{argument: its elements} after a call with so many of the values, or its error."""
        returned = []
        error = error_of(lambda: returned.append(getattr(module, name)(*values[:count])))
        threads = len(os.listdir("/proc/self/task"))
        for handle in [value for value, parameter in zip(values, parameters) if parameter.type == "AsyncIoHandle"] + \
                      [value for value in returned if name == "async_io_open"]:
            module.async_io_close(handle)  # it waits for what was started
        if error is not None:
            return repr(error)
        return {**{parameter.name: (value[0] if isinstance(value, list) else value).tolist()
                   for value, parameter in zip(values, parameters) if parameter.type in TENSORS}, " threads": threads}

    @of_each_function("cpu")
    def test_exactly_what_is_said_to_be_written_to_changes(self, module, name, parameters, facts):
        before = {parameter.name: np.full(ARRAY_SHAPE, position + 1.5, np.float32).tolist()
                  for position, parameter in enumerate(parameters) if parameter.type in TENSORS}
        after = self.arrays_after(module, name, parameters, self.live(module, parameters, facts), len(parameters))
        if name == "pin_memory_unlock":
            self.assertIn("that is locked", after)  # it takes no other tensor than its own
        else:
            self.assertIsInstance(after, dict)
            changed = {key for key in before if after[key] != before[key]}
            self.assertEqual(changed, {key for key in before if facts[key]["writes"]})

    @of_each_function("cpu")
    def test_what_has_a_default_may_be_left_out_and_means_the_same_then(self, module, name, parameters, facts):
        for count in range(sum(not parameter.has_default for parameter in parameters), len(parameters)):
            less, all_given = (self.arrays_after(module, name, parameters, self.live(module, parameters, facts), many)
                               for many in (count, len(parameters)))
            self.assertIsInstance(less, dict)
            self.assertEqual(less, all_given)

    @of_each_function("cuda")
    def test_what_has_a_default_may_be_left_out(self, module, name, parameters, facts):
        given = self.rights(module, parameters, facts)
        for count in range(sum(not parameter.has_default for parameter in parameters), len(parameters)):
            less, all_given = (error_of(lambda: getattr(module, name)(*values)) for values in (given[:count], given))
            self.assertNotIsInstance(less, TypeError)
            self.assertEqual(repr(less), repr(all_given))

    @of_each_function("cpu")
    def test_dtypes_are_those_that_are_said(self, module, name, parameters, facts):
        for position, parameter in enumerate(parameters):
            dtypes = facts[parameter.name]["dtypes"]
            if not dtypes:
                continue
            values = self.live(module, parameters, facts)
            for dtype in dtypes:
                values[position] = [ARRAY_OF[dtype]()]
                self.assertIsNone(error_of(lambda: getattr(module, name)(*values)))
            values[position] = [np.ones(ARRAY_SHAPE, np.int32)]
            self.assert_named(error_of(lambda: getattr(module, name)(*values)), TypeError, name, parameter.name + "[0]",
                              f"expected {' or '.join(dtypes)}, got int32")

    @of_each_function()
    def test_what_comes_back_is_what_is_said(self, module, name, parameters, facts):
        values = self.rights(module, parameters, facts)
        returned = []
        if error_of(lambda: returned.append(getattr(module, name)(*values))) is None:
            said = STUBS[name][1]
            if said in ("None", "int", "bool", "str"):
                self.assertIsInstance(returned[0], {"None": type(None), "int": int, "bool": bool, "str": str}[said])
            else:
                self.assertEqual(hasattr(returned[0], "__dlpack__"), said == "Tensor")

    def test_dtypes_of_tvm_ffi_and_numpy_are_taken_too(self):
        if "pin_memory" in MODULES:
            for dtype in ("float16", np.dtype("float16"), support.tvm_ffi.dtype("float16")):
                self.assertEqual(np.from_dlpack(MODULES["pin_memory"].pin_memory_allocate([4], dtype)).dtype, np.float16)


if __name__ == "__main__":
    unittest.main()
