"""Lion as its paper writes it (Chen et al. 2023), on float64 arrays of any library."""

from dataclasses import dataclass


@dataclass
class Options:
    lr: float = 1e-2
    beta1: float = 0.9
    beta2: float = 0.99
    weight_decay: float = 0.0
    grad_scale: float = 1.0

    def arguments(self):
        """In the order of fused_lion_step and cpu_lion_step, behind the three lists."""
        return self.lr, self.beta1, self.beta2, self.weight_decay, self.grad_scale


def sign(x):
    """0 of 0; in the dtype of x, whatever the library makes of a bool times a number."""
    return x * 0 + (x > 0) * 1.0 - (x < 0) * 1.0


def direction(grad, exp_avg, o):
    return o.beta1 * exp_avg + (1 - o.beta1) * grad * o.grad_scale


def reference_step(param, grad, exp_avg, options):
    """Returns the new (param, exp_avg)."""
    o = options
    update = sign(direction(grad, exp_avg, o)) + o.weight_decay * param
    return param - o.lr * update, o.beta2 * exp_avg + (1 - o.beta2) * grad * o.grad_scale


def tolerances(param, grad, exp_avg, options):
    """How far one float32 step from this state may be from the reference: (param, exp_avg). Where the two terms of the
    direction cancel down to their roundings, its sign may be any."""
    o = options
    rounding = 1e-6
    size = abs(grad) * o.grad_scale
    direction_error = rounding * (o.beta1 * abs(exp_avg) + (1 - o.beta1) * size)
    unsure = (abs(direction(grad, exp_avg, o)) < direction_error) * 2.0
    return (rounding * (abs(param) + o.lr) + o.lr * unsure,
            rounding * (o.beta2 * abs(exp_avg) + (1 - o.beta2) * size))
