"""LAMB as its paper writes it (You et al. 2019), with DeepSpeed's choices: the bias corrections in the learning rate, bounds
of the trust ratio, eps below the root where one wants it. On float64 arrays of any library."""

from dataclasses import dataclass


@dataclass
class Options:
    lr: float = 1e-2
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    step: int = 1
    eps_inside_sqrt: bool = False
    bias_correction: bool = True
    weight_decay: float = 0.0
    min_coeff: float = 0.01
    max_coeff: float = 10.0
    grad_scale: float = 1.0

    def arguments(self):
        """In the order of fused_lamb_step, behind the four lists and scratch."""
        return (self.lr, self.beta1, self.beta2, self.eps, self.step, self.eps_inside_sqrt, self.bias_correction,
                self.weight_decay, self.min_coeff, self.max_coeff, self.grad_scale)


def corrected_lr(o):
    return o.lr * (1 - o.beta2**o.step)**0.5 / (1 - o.beta1**o.step) if o.bias_correction else o.lr


def norm(x):
    return float((x * x).sum())**0.5


def moments(grad, exp_avg, exp_avg_sq, o):
    grad = grad * o.grad_scale
    return o.beta1 * exp_avg + (1 - o.beta1) * grad, o.beta2 * exp_avg_sq + (1 - o.beta2) * grad * grad


def root_of(v, o):
    return (v + o.eps)**0.5 if o.eps_inside_sqrt else v**0.5 + o.eps


def trust_ratio(param, update, o):
    sizes = norm(param), norm(update)
    return 1.0 if 0 in sizes else min(max(sizes[0] / sizes[1], o.min_coeff), o.max_coeff)


def reference_step(param, grad, exp_avg, exp_avg_sq, options):
    """Returns the new (param, exp_avg, exp_avg_sq)."""
    o = options
    m, v = moments(grad, exp_avg, exp_avg_sq, o)
    update = m / root_of(v, o) + o.weight_decay * param
    return param - corrected_lr(o) * trust_ratio(param, update, o) * update, m, v


def tolerances(param, grad, exp_avg, exp_avg_sq, options):
    """How far one float32 step from this state may be from the reference: (param, exp_avg, exp_avg_sq)."""
    o = options
    rounding = 1e-6
    size = abs(grad) * o.grad_scale
    m, v = moments(grad, exp_avg, exp_avg_sq, o)
    m_error = rounding * (abs(exp_avg) + (1 - o.beta1) * size)
    v_error = rounding * (exp_avg_sq + (1 - o.beta2) * size * size)
    root = root_of(v, o)
    root_error = v_error / root + rounding * root
    update = m / root + o.weight_decay * param
    update_error = (m_error + abs(m) * root_error / root) / root + rounding * o.weight_decay * abs(param)
    of_ratio = 1e-5 + (norm(update_error) / norm(update) if norm(update) else 0)
    rate = corrected_lr(o) * trust_ratio(param, update, o)
    return rounding * abs(param) + rate * (update_error + of_ratio * abs(update)), m_error, v_error
