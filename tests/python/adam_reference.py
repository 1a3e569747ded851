"""Adam as its papers write it (Kingma & Ba 2015; Loshchilov & Hutter 2019), on float64 arrays of any library."""

from dataclasses import dataclass


@dataclass
class Options:
    lr: float = 1e-2
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    step: int = 1
    adam_w_mode: bool = True
    bias_correction: bool = True
    weight_decay: float = 0.0
    grad_scale: float = 1.0

    def arguments(self):
        """In the order of fused_adam_step and cpu_adam_step, behind the four lists."""
        return (self.lr, self.beta1, self.beta2, self.eps, self.step, self.adam_w_mode,
                self.bias_correction, self.weight_decay, self.grad_scale)


def reference_step(param, grad, exp_avg, exp_avg_sq, options):
    """Returns the new (param, exp_avg, exp_avg_sq)."""
    o = options
    grad = grad * o.grad_scale
    if not o.adam_w_mode:
        grad = grad + o.weight_decay * param
    exp_avg = o.beta1 * exp_avg + (1 - o.beta1) * grad
    exp_avg_sq = o.beta2 * exp_avg_sq + (1 - o.beta2) * grad * grad
    m, v = exp_avg, exp_avg_sq
    if o.bias_correction:
        m = m / (1 - o.beta1**o.step)
        v = v / (1 - o.beta2**o.step)
    update = m / (v**0.5 + o.eps)
    if o.adam_w_mode:
        update = update + o.weight_decay * param
    return param - o.lr * update, exp_avg, exp_avg_sq


def tolerances(param, grad, exp_avg, exp_avg_sq, options):
    """How far one float32 step from this state may be from the reference: (param, exp_avg, exp_avg_sq).

    A few roundings of each term by its size, since the terms of a gradient with weight decay may cancel; and what
    the errors of the moments mean for the parameter, to first order.
    """
    o = options
    rounding = 1e-6
    size = abs(grad) * o.grad_scale + (0 if o.adam_w_mode else o.weight_decay * abs(param))
    exp_avg_error = rounding * (abs(exp_avg) + (1 - o.beta1) * size)
    exp_avg_sq_error = rounding * (exp_avg_sq + (1 - o.beta2) * size * size)
    _, m, v = reference_step(param, grad, exp_avg, exp_avg_sq, o)
    correction1 = 1 - o.beta1**o.step if o.bias_correction else 1
    correction2 = 1 - o.beta2**o.step if o.bias_correction else 1
    root = (v / correction2) ** 0.5 + o.eps
    root_error = exp_avg_sq_error / correction2 / root + rounding * root
    update_error = (exp_avg_error + abs(m) * root_error / root) / correction1 / root
    return rounding * abs(param) + o.lr * update_error, exp_avg_error, exp_avg_sq_error
