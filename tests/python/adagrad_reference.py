"""Adagrad as its paper writes it (Duchi et al. 2011, diagonal), on float64 arrays of any library; weight decay is a term of
the loss."""

from dataclasses import dataclass


@dataclass
class Options:
    lr: float = 1e-2
    eps: float = 1e-10
    weight_decay: float = 0.0
    grad_scale: float = 1.0

    def arguments(self):
        """In the order of cpu_adagrad_step, behind the three lists."""
        return self.lr, self.eps, self.weight_decay, self.grad_scale


def reference_step(param, grad, exp_avg_sq, options):
    """Returns the new (param, exp_avg_sq)."""
    o = options
    grad = grad * o.grad_scale + o.weight_decay * param
    exp_avg_sq = exp_avg_sq + grad * grad
    return param - o.lr * grad / (exp_avg_sq**0.5 + o.eps), exp_avg_sq


def tolerances(param, grad, exp_avg_sq, options):
    """How far one float32 step from this state may be from the reference: (param, exp_avg_sq)."""
    o = options
    rounding = 1e-6
    size = abs(grad) * o.grad_scale + o.weight_decay * abs(param)
    g = abs(grad * o.grad_scale + o.weight_decay * param)
    _, v = reference_step(param, grad, exp_avg_sq, o)
    grad_error = rounding * size
    v_error = rounding * v + 2 * g * grad_error + grad_error**2
    root = v**0.5 + o.eps
    update_error = grad_error / root + g * (v_error / root + rounding * root) / root**2
    return rounding * abs(param) + o.lr * update_error, v_error
