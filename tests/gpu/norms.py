"""What the tests and the tables of rms_norm and layer_norm share: their calls on torch tensors."""

import dataclasses

import support  # exits with 77 where something is missing
import results

import torch

DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def like(tensor):
    return None if tensor is None else results.empty(tensor.shape, tensor.dtype)


@dataclasses.dataclass
class Inputs:
    """Of rms_norm with `bias` None; `weight` and `bias` are None where there is none."""

    x: torch.Tensor
    weight: torch.Tensor
    bias: torch.Tensor
    grad_out: torch.Tensor


class Norm:
    def __init__(self, name):
        self.name = name
        self.centred = name == "layer_norm"  # it has mean and bias
        self.op = support.load_op(name)
        self.forward_call, self.backward_call, self.scratch_call = (
            getattr(self.op, f"{name}_{part}") for part in ("forward", "backward", "scratch"))

    def random_inputs(self, rows, hidden, dtype, parameter_dtypes=(None, None), shift=0.0):
        def parameter(kind, middle):
            return None if kind is None else (middle + 0.5 * torch.randn(hidden, device="cuda")).to(kind)

        x, grad_out = (torch.randn(rows, hidden, device="cuda") for _ in range(2))
        weight, bias = parameter(parameter_dtypes[0], 1.0), parameter(parameter_dtypes[1], 0.0)
        return Inputs((x + shift).to(dtype), weight, bias if self.centred else None, grad_out.to(dtype))

    def forward_arguments(self, inputs, eps=1e-5):
        """What the forward function takes, with results of its own."""
        statistics = [results.empty(inputs.x.shape[:-1], torch.float32) for _ in range(2 if self.centred else 1)]
        parameters = [inputs.weight, inputs.bias] if self.centred else [inputs.weight]
        return [inputs.x, *parameters, like(inputs.x), *statistics, eps]

    def forward(self, inputs, eps=1e-5):
        """out, mean (zeros for rms_norm), rstd"""
        arguments = self.forward_arguments(inputs, eps)
        self.forward_call(*arguments)
        if self.centred:
            return arguments[3:6]
        return arguments[2], torch.zeros_like(arguments[3]), arguments[3]

    def scratch(self, x):
        return results.empty((self.scratch_call(x),), torch.float32)

    def backward_arguments(self, inputs, mean, rstd):
        gradients = [like(inputs.x), like(inputs.weight), like(inputs.bias)]
        scratch = self.scratch(inputs.x)
        if self.centred:
            return [inputs.grad_out, inputs.x, inputs.weight, inputs.bias, mean, rstd, *gradients, scratch]
        return [inputs.grad_out, inputs.x, inputs.weight, rstd, *gradients[:2], scratch]

    def gradients_of(self, arguments):
        """grad_input, grad_weight, grad_bias of the backward function's arguments."""
        return arguments[6:9] if self.centred else [*arguments[4:6], None]

    def backward(self, inputs, mean, rstd):
        """grad_input, grad_weight, grad_bias"""
        arguments = self.backward_arguments(inputs, mean, rstd)
        self.backward_call(*arguments)
        return self.gradients_of(arguments)


def both():
    return [Norm("rms_norm"), Norm("layer_norm")]
