"""FP8 training of linear layers: recipes, what one is resolved to, the quantisers that it asks for (docs/fp8.md).

    recipe = dsbuild.fp8.Fp8Recipe(scaling="delayed", amax_history_len=16)
    layer = dsbuild.nn.Fp8Linear(4096, 4096, dtype=torch.bfloat16, device="cuda", recipe=recipe)
"""

import dataclasses
import enum
import functools
from typing import NamedTuple, Optional

import torch

LARGEST = {"e4m3": 448, "e5m2": 57344}  # values of the formats
FIRST_GPU = (8, 9)  # compute capability


@dataclasses.dataclass(frozen=True)
class Fp8Recipe:
    """How a layer computes in FP8; an object of it never changes.

    scaling            "delayed": scales of the largest magnitudes of the last steps; "current": of the tensor itself
    format             "hybrid": e4m3 forward, e5m2 for gradients; "e4m3": e4m3 for both
    amax_history_len   steps that delayed scaling looks at, 1 to 1024
    margin             delayed scales are 2^margin times what the history asks for
    use_split_accumulator_fprop, _dgrad, _wgrad
                       partial sums of that product in float32: fast accumulation is off
    fp8_output         the layer returns its output in FP8 too (Fp8Output)
    transposed_cache   the forward pass keeps transposed codes for the backward pass, which else transposes them itself
    delay_wgrad        the gradient of the weight is computed by layer.backward_dw() and not in the backward pass
    """

    scaling: str = "delayed"
    format: str = "hybrid"
    amax_history_len: int = 16
    margin: int = 0
    use_split_accumulator_fprop: bool = False
    use_split_accumulator_dgrad: bool = True
    use_split_accumulator_wgrad: bool = True
    fp8_output: bool = False
    transposed_cache: bool = True
    delay_wgrad: bool = False

    def __post_init__(self):
        _check("scaling", self.scaling in ("delayed", "current"), '"delayed" or "current"', self.scaling)
        _check("format", self.format in ("hybrid", "e4m3"), '"hybrid" or "e4m3"', self.format)
        _check("amax_history_len", _is_int(self.amax_history_len) and 1 <= self.amax_history_len <= 1024,
               "an integer between 1 and 1024", self.amax_history_len)
        _check("margin", _is_int(self.margin) and -64 <= self.margin <= 64, "an integer between -64 and 64", self.margin)
        for field in dataclasses.fields(self):
            if isinstance(field.default, bool):
                value = getattr(self, field.name)
                _check(field.name, isinstance(value, bool), "a bool", value)


def _is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _check(name, is_right, expected, value):
    if not is_right:
        raise ValueError(f"Fp8Recipe: {name}: expected {expected}, got {value!r}")


class Fp8Flags(NamedTuple):
    """A recipe resolved for one forward pass: plain booleans, and all that the backward pass sees of it."""

    delayed_scaling: bool
    e5m2_gradients: bool
    fprop_split_accumulator: bool
    dgrad_split_accumulator: bool
    wgrad_split_accumulator: bool
    fp8_output: bool
    transposed_cache: bool
    delay_wgrad: bool


def resolve(recipe):
    """The Fp8Flags of a recipe in the mode of now."""
    split = not fast_accumulation()
    return Fp8Flags(
        delayed_scaling=recipe.scaling == "delayed",
        e5m2_gradients=recipe.format == "hybrid",
        fprop_split_accumulator=split or recipe.use_split_accumulator_fprop,
        dgrad_split_accumulator=split or recipe.use_split_accumulator_dgrad,
        wgrad_split_accumulator=split or recipe.use_split_accumulator_wgrad,
        fp8_output=recipe.fp8_output,
        transposed_cache=recipe.transposed_cache,
        delay_wgrad=recipe.delay_wgrad)


# ---- quantisers


class QuantizerRole(enum.Enum):
    """What a quantiser of a layer is for."""

    INPUT = "input"
    WEIGHT = "weight"
    GRAD_OUTPUT = "grad_output"
    OUTPUT = "output"

    @classmethod
    def _missing_(cls, value):
        raise ValueError(f"quantizer role: expected {_role_names(repr)}, got {value!r}")


def _role_names(spell):
    names = [spell(role.value) for role in QuantizerRole]
    return ", ".join(names[:-1]) + " or " + names[-1]


def format_of(recipe, role):
    """ "e4m3" or "e5m2"."""
    if not isinstance(role, QuantizerRole):
        raise TypeError(f"quantizer role: expected a QuantizerRole ({_role_names(str)}), got {role!r}")
    if role is QuantizerRole.GRAD_OUTPUT and recipe.format == "hybrid":
        return "e5m2"
    return "e4m3"


def roles_of(recipe):
    """The roles that a linear layer has quantisers for. Their order is that of the columns of its history."""
    roles = (QuantizerRole.INPUT, QuantizerRole.WEIGHT, QuantizerRole.GRAD_OUTPUT)
    return (*roles, QuantizerRole.OUTPUT) if recipe.fp8_output else roles


class Quantizer:
    """One tensor's part of a recipe. `slot` is its column in the layer's history, and its scale."""

    __slots__ = ("role", "format", "slot")

    def __init__(self, role, format, slot):
        self.role = role
        self.format = format
        self.slot = slot

    @property
    def largest(self):
        return LARGEST[self.format]


class QuantizerCache:
    """The quantisers of a layer. They are built where the recipe is another object than last time, or their number is
    another; a look at both is all that a step costs else."""

    def __init__(self):
        self.recipe = None
        self.quantizers = ()
        self.built = 0  # quantisers, in all its life

    def update(self, recipe, roles):
        """Whether it had to build them."""
        if self.recipe is recipe and len(self.quantizers) == len(roles):
            return False
        self.quantizers = tuple(Quantizer(role, format_of(recipe, role), slot) for slot, role in enumerate(roles))
        self.recipe = recipe
        self.built += len(self.quantizers)
        return True


# ---- constant queries


@dataclasses.dataclass(frozen=True)
class _Mode:
    enabled: Optional[bool]  # None: where the GPU has it
    fast_accumulation: bool


_mode = _Mode(None, True)


def initialize(enabled=None, fast_accumulation=True):
    """Sets the mode of all layers of this process.

    enabled            None: where the GPU has FP8; False: nowhere, layers compute in their own dtype; True: everywhere
    fast_accumulation  False: all products use split accumulators, whatever their recipe says

    What the queries below answered is asked anew. They are constants of a compiled program, which is compiled anew when it
    runs in another mode: the mode's booleans are among what it guards.
    """
    global _mode
    _mode = _Mode(enabled, fast_accumulation)
    _capability.cache_clear()


@functools.lru_cache(maxsize=None)
def _capability(index):
    return torch.cuda.get_device_capability(index)


@torch.compiler.assume_constant_result
def _gpu_has_fp8(index):
    return _capability(index) >= FIRST_GPU


def has_fp8(device):
    """Whether layers on this torch.device compute in FP8."""
    if _mode.enabled is not None:
        return _mode.enabled
    return device.type == "cuda" and _gpu_has_fp8(device.index)


def is_disabled():
    """Whether layers were told to compute in their own dtype."""
    return _mode.enabled is False


def fast_accumulation():
    """Whether products may add up partial sums in less than float32, where the recipe lets them."""
    return _mode.fast_accumulation
