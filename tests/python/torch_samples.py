"""Calls of the torch operators, from what functions.yaml of each op says (scripts/make_torch_operators.py --samples), for any
op: names and dtypes are those that are written there. DSBUILD_TORCH_SAMPLES is that JSON in a file; without it the script is
asked, which needs PyYAML."""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]


def facts():
    file = os.environ.get("DSBUILD_TORCH_SAMPLES")
    if file:
        return json.loads(pathlib.Path(file).read_text())
    script = ROOT / "scripts" / "make_torch_operators.py"
    return json.loads(subprocess.run([sys.executable, "-B", script, "--samples"], check=True, stdout=subprocess.PIPE).stdout)


FACTS = facts()


@dataclasses.dataclass
class Call:
    """Of one operator with one sample and one dtype."""

    name: str    # "fused_adam_step.tensor"
    number: int  # of the sample
    dtype: str   # of the tensors that may have it; "" where each has one alone
    arguments: list
    named: dict
    facts: dict

    @property
    def operator(self):
        packet, _, overload = self.name.partition(".")
        return getattr(getattr(torch.ops.dsbuild, packet), overload or "default")

    def __str__(self):
        return f"{self.name} sample {self.number} {self.dtype}".rstrip()

    def tensors(self):
        """(name, tensor, whether it is written to)"""
        for fact, value in zip(self.facts["arguments"], self.arguments):
            for tensor in value if isinstance(value, list) else [value]:
                if isinstance(tensor, torch.Tensor):
                    yield fact["name"], tensor, fact["writes"]


def dtypes_of(fact):
    """The dtypes that a call is made with: those of the first tensor that may have several."""
    for argument in fact["arguments"]:
        if len(argument["dtypes"]) > 1:
            return argument["dtypes"]
    return [""]


def calls(device, wanted=None):
    """All calls of the operators of the device's backend, on "meta" of all; `wanted`: names of operators."""
    for name, fact in FACTS.items():
        if device in (fact["backend"], "meta") and (wanted is None or name in wanted):
            yield from calls_of(name, fact, device)


def calls_of(name, fact, device):
    for number, sample in enumerate(fact["samples"]):
        pinned = any(isinstance(one, dict) for value in sample.values() for one in (value if isinstance(value, list) else [value]))
        for dtype in dtypes_of(fact)[:1] if pinned else dtypes_of(fact):
            yield call_of(name, fact, number, dtype, device)


def call_of(name, fact, number, dtype, device):
    sample = fact["samples"][number]
    arguments = [value_of(argument, sample.get(argument["name"], argument["value"]), dtype, device, bool(fact["overload"]))
                 for argument in fact["arguments"]]
    named = {key: sample[key] for key in ("shape", "dtype") if key in sample}
    if "dtype" in named:
        named["dtype"] = getattr(torch, named["dtype"])
    return Call(name, number, dtype, arguments, named, fact)


def value_of(argument, value, dtype, device, with_tensors):
    kind = argument["type"]
    if kind == "tensors":
        return [tensor_of(argument, one, dtype, device) for one in value]
    if kind.startswith("tensor") and value is not None:
        return tensor_of(argument, value, dtype, device)
    if kind.endswith(" or tensor") and with_tensors:
        return torch.tensor(value, dtype=torch.float32 if kind.startswith("float") else torch.int64, device=device)
    return value


def tensor_of(argument, value, dtype, device):
    """`value`: a shape, or that and a dtype."""
    shape, own = (value["shape"], value.get("dtype")) if isinstance(value, dict) else (value, None)
    dtypes = argument["dtypes"] or ["float32"]
    kind = getattr(torch, own or (dtype if dtype in dtypes else dtypes[0]))
    if kind.is_floating_point:
        return torch.rand(shape, device=device).to(kind)
    return torch.randint(0, 100, shape, device=device).to(kind)


def results(value):
    """What an operator returned, as a list."""
    return value if isinstance(value, (tuple, list)) else [] if value is None else [value]
