"""DeepSpeed's optimisers over the native ops, as torch.optim.Optimizer: the same names of arguments, order and defaults.

    import dsbuild.optim
    optimizer = dsbuild.optim.FusedAdam(model.parameters(), lr=1e-3, weight_decay=0.01, capturable=True)

Each step is one call of a native op per parameter group, dtype and number of the step. Moments are float32 whatever the
parameters are. `capturable=True` keeps lr and step in tensors on the parameters' device, which the kernels read when they
run: for CUDA graphs, and so that torch.compile need not compile anew for each learning rate. docs/guides/optim.md has the rules.
"""

import collections

import torch

from . import torch as _operators  # noqa: F401  registers torch.ops.dsbuild

__all__ = ["CPUAdagrad", "CPUAdam", "CPULion", "FusedAdam", "FusedLamb", "FusedLion"]


class _Optimizer(torch.optim.Optimizer):
    """What they share. A subclass says what it is made of:

    _function   the operator of torch.ops.dsbuild
    _device     of the parameters: "cuda" or "cpu"
    _moments    names of the states of a parameter beside its step, in the operator's order
    _takes_step whether the operator takes the number of the step
    _settings   attributes of the constructor's that copies keep
    """

    _function = _device = None
    _moments = ()
    _takes_step = True
    _settings = ()

    def __init__(self, params, capturable, **defaults):
        if isinstance(defaults["lr"], torch.Tensor) and not capturable and self._device == "cuda":
            raise ValueError(f"{type(self).__name__}: lr: expected a number, or capturable=True")
        super().__init__(params, {**defaults, "capturable": capturable})

    def add_param_group(self, param_group):
        super().add_param_group(param_group)
        self._keep_lr_in_a_tensor(self.param_groups[-1])

    def _keep_lr_in_a_tensor(self, group):
        """Of its own for each group: schedulers write to it."""
        if group["capturable"] and group["params"]:
            group["lr"] = torch.as_tensor(group["lr"], dtype=torch.float32).to(group["params"][0].device, copy=True)

    @torch.no_grad()
    def step(self, closure=None):
        """One step; `closure` works the loss and the gradients out anew, and its loss is returned."""
        return self._step(closure, [1.0] * len(self.param_groups))

    def _step(self, closure, grad_scales):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group, grad_scale in zip(self.param_groups, grad_scales):
            self._step_group(group, grad_scale)
        return loss

    def _step_group(self, group, grad_scale):
        number, calls = 0, 1
        while number < calls:
            params, grads, steps = [], [], []
            moments = [[] for _ in self._moments]
            calls = self._init_group(group, number, params, grads, steps, *moments)
            if calls > 0:
                steps[0].add_(1)
                self._call(group, steps[0], [params, grads, *moments], grad_scale)
            number += 1

    def _call(self, group, step, lists, grad_scale):
        """One call of the operator."""
        function = getattr(torch.ops.dsbuild, self._function)
        lr, device = group["lr"], lists[0][0].device
        if group["capturable"] or torch.compiler.is_compiling():
            if not isinstance(lr, torch.Tensor):
                lr = torch.full((), lr, dtype=torch.float32, device=device)
            function.tensor(*lists, *self._arguments(group, lr, step), grad_scale)
        else:
            function.default(*lists, *self._arguments(group, float(lr), int(step) if self._takes_step else None), grad_scale)

    def _arguments(self, group, lr, step):
        """What the operator takes behind the lists, before grad_scale."""
        raise NotImplementedError

    # ---- states

    def _init_group(self, group, number, params, grads, steps, *moments):
        """Fills the lists with what call `number` of the group's takes, and says how many calls there are. torch.compile runs
        this as it stands and takes the tensors for inputs of its graph, because of its name and because it fills lists."""
        buckets = self._buckets(group)
        if buckets:
            params.extend(buckets[number])
            grads.extend(param.grad for param in params)
            steps.append(self.state[params[0]]["step"])
            for name, tensors in zip(self._moments, moments):
                tensors.extend(self.state[param][name] for param in params)
        return len(buckets)

    def _buckets(self, group):
        """Lists of parameters: those of one have one device, dtype and dtype of gradients, and one tensor for their step,
        which no other has."""
        found = {}
        for param in group["params"]:
            if param.grad is None:
                continue
            self._check(param)
            step = self.state[param].get("step") if param in self.state else None
            found.setdefault((param.device, param.dtype, param.grad.dtype, id(step)), []).append(param)
        self._check_capture(group, found)
        sharers = collections.Counter(id(self.state[p]["step"]) for p in group["params"] if "step" in self.state.get(p, ()))
        for (*_, step), params in found.items():
            if "step" not in self.state.get(params[0], ()):
                self._make_states(group, params)
            elif sharers[step] > len(params):  # the others have no gradient this time, or one of another dtype
                self._share(params, self.state[params[0]]["step"].clone())
        return list(found.values())

    def _check(self, param):
        if param.grad.is_sparse:
            raise RuntimeError(f"{type(self).__name__}: sparse gradients are not taken")
        if param.device.type != self._device:
            raise ValueError(f"{type(self).__name__}: expected parameters on {self._device}, got one on {param.device}")

    def _check_capture(self, group, found):
        """What a CUDA graph would freeze, or do again with each replay, without a word."""
        if self._device != "cuda" or torch.compiler.is_compiling() or not torch.cuda.is_available():
            return
        if not torch.cuda.is_current_stream_capturing():
            return
        name = type(self).__name__
        if not group["capturable"] or not isinstance(group["lr"], torch.Tensor):
            raise RuntimeError(f"{name}: capturable=True and lr in a tensor are needed to take a step in a CUDA graph")
        if any("step" not in self.state.get(params[0], ()) for params in found.values()):
            raise RuntimeError(f"{name}: take one step before the capture: the graph would make the moments anew at each replay")

    def _make_states(self, group, params):
        for param in params:
            for name in self._moments:
                self.state[param][name] = torch.zeros_like(param, dtype=torch.float32)
        self._share(params, torch.zeros((), dtype=torch.float32, device=self._step_device(group, params[0])))

    def _share(self, params, step):
        for param in params:
            self.state[param]["step"] = step

    def _step_device(self, group, param):
        return param.device if group["capturable"] else torch.device("cpu")

    # ---- checkpoints

    def __getstate__(self):
        return {**super().__getstate__(), **{name: getattr(self, name) for name in self._settings}}

    def state_dict(self):
        """As torch's own optimisers have it: each parameter has a step of its own."""
        packed = super().state_dict()
        packed["state"] = {key: {**state, "step": state["step"].clone()} if "step" in state else state
                           for key, state in packed["state"].items()}
        return packed

    @torch.no_grad()
    def load_state_dict(self, state_dict):
        """Of this class, of DeepSpeed's, or of the torch optimiser whose states have the same names. Whether it is capturable
        stays as it was."""
        capturable = [group["capturable"] for group in self.param_groups]
        super().load_state_dict(state_dict)
        for group, saved, own in zip(self.param_groups, state_dict["param_groups"], capturable):
            for key, value in self.defaults.items():
                group.setdefault(key, value)
            for key in ("amsgrad", "maximize"):
                if group.get(key):
                    raise ValueError(f"{type(self).__name__}: load_state_dict: {key}: expected False")
            group["capturable"] = own
            self._keep_lr_in_a_tensor(group)
            if not own and isinstance(group["lr"], torch.Tensor):
                group["lr"] = float(group["lr"])
            self._take_states(group, [state_dict["state"].get(key, {}) for key in saved["params"]])

    def _take_states(self, group, states):
        """torch has given the moments the dtype of their parameters, and has kept the step as it was."""
        together = {}
        for param, saved in zip(group["params"], states):
            for name in self._moments:
                if name in saved:
                    self.state[param][name] = saved[name].to(param.device, torch.float32)
            if "step" in saved:
                dtype = param.grad.dtype if param.grad is not None else param.dtype
                together.setdefault((float(saved["step"]), param.device, param.dtype, dtype), []).append(param)
        for (step, *_), params in together.items():
            self._share(params, torch.full((), step, dtype=torch.float32, device=self._step_device(group, params[0])))


class _Nones:
    """zero_grad as DeepSpeed's: `set_grad_none` of the constructor says what becomes of gradients."""

    def zero_grad(self, set_to_none=None):
        super().zero_grad(self.set_grad_none if set_to_none is None else set_to_none)


def _refuse(optimizer, **given):
    """What DeepSpeed's constructor has and these ops cannot do: {name: (value, the one that is taken)}."""
    for name, (value, taken) in given.items():
        if value != taken:
            raise ValueError(f"{type(optimizer).__name__}: {name}: expected {taken}, got {value}")


class _Adam(_Optimizer):
    _moments = ("exp_avg", "exp_avg_sq")

    def _arguments(self, group, lr, step):
        return (lr, *group["betas"], group["eps"], step, self.adam_w_mode, group["bias_correction"], group["weight_decay"])


class FusedAdam(_Nones, _Adam):
    """Adam and AdamW on a GPU (the op fused_adam)."""

    _function, _device, _settings = "fused_adam_step", "cuda", ("adam_w_mode", "set_grad_none")

    def __init__(self, params, lr=1e-3, bias_correction=True, betas=(0.9, 0.999), eps=1e-8, adam_w_mode=True, weight_decay=0.,
                 amsgrad=False, set_grad_none=True, *, capturable=False):
        _refuse(self, amsgrad=(amsgrad, False))
        super().__init__(params, capturable, lr=lr, bias_correction=bool(bias_correction), betas=betas, eps=eps,
                         weight_decay=weight_decay)
        self.adam_w_mode, self.set_grad_none = bool(adam_w_mode), set_grad_none


class CPUAdam(_Adam):
    """Adam and AdamW on the CPU (the op cpu_adam), as DeepSpeedCPUAdam. Parameters are float32."""

    _function, _device, _settings = "cpu_adam_step", "cpu", ("adam_w_mode",)

    def __init__(self, model_params, lr=1e-3, bias_correction=True, betas=(0.9, 0.999), eps=1e-8, weight_decay=0, amsgrad=False,
                 adamw_mode=True, fp32_optimizer_states=True, *, capturable=False):
        _refuse(self, amsgrad=(amsgrad, False), fp32_optimizer_states=(fp32_optimizer_states, True))
        super().__init__(model_params, capturable, lr=lr, bias_correction=bool(bias_correction), betas=betas, eps=eps,
                         weight_decay=weight_decay)
        self.adam_w_mode = bool(adamw_mode)


class _Lion(_Optimizer):
    _moments = ("exp_avg",)
    _takes_step = False

    def _arguments(self, group, lr, step):
        return (lr, *group["betas"], group["weight_decay"])


class FusedLion(_Nones, _Lion):
    """Lion on a GPU (the op fused_lion)."""

    _function, _device, _settings = "fused_lion_step", "cuda", ("set_grad_none",)

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), weight_decay=0., set_grad_none=True, *, capturable=False):
        super().__init__(params, capturable, lr=lr, betas=betas, weight_decay=weight_decay)
        self.set_grad_none = set_grad_none


class CPULion(_Lion):
    """Lion on the CPU (the op cpu_lion), as DeepSpeedCPULion. Parameters are float32."""

    _function, _device = "cpu_lion_step", "cpu"

    def __init__(self, model_params, lr=1e-3, betas=(0.9, 0.999), weight_decay=0, fp32_optimizer_states=True, *,
                 capturable=False):
        _refuse(self, fp32_optimizer_states=(fp32_optimizer_states, True))
        super().__init__(model_params, capturable, lr=lr, betas=betas, weight_decay=weight_decay)


class CPUAdagrad(_Optimizer):
    """Adagrad on the CPU (the op cpu_adagrad), as DeepSpeedCPUAdagrad. Parameters are float32."""

    _function, _device = "cpu_adagrad_step", "cpu"
    _moments = ("exp_avg_sq",)
    _takes_step = False

    def __init__(self, model_params, lr=1e-2, eps=1e-10, weight_decay=0, amsgrad=False, fp32_optimizer_states=True, *,
                 capturable=False):
        _refuse(self, amsgrad=(amsgrad, False), fp32_optimizer_states=(fp32_optimizer_states, True))
        super().__init__(model_params, capturable, lr=lr, eps=eps, weight_decay=weight_decay)

    def _arguments(self, group, lr, step):
        return (lr, group["eps"], group["weight_decay"])


class FusedLamb(_Optimizer):
    """LAMB on a GPU (the op fused_lamb). `max_grad_norm` clips where step is told the norms of the gradients."""

    _function, _device, _settings = "fused_lamb_step", "cuda", ("eps_inside_sqrt",)
    _moments = ("exp_avg", "exp_avg_sq")

    def __init__(self, params, lr=1e-3, bias_correction=True, betas=(0.9, 0.999), eps=1e-8, eps_inside_sqrt=False,
                 weight_decay=0., max_grad_norm=0., max_coeff=10.0, min_coeff=0.01, amsgrad=False, *, capturable=False):
        _refuse(self, amsgrad=(amsgrad, False))
        super().__init__(params, capturable, lr=lr, bias_correction=bool(bias_correction), betas=betas, eps=eps,
                         weight_decay=weight_decay, max_grad_norm=max_grad_norm, max_coeff=max_coeff, min_coeff=min_coeff)
        self.eps_inside_sqrt = bool(eps_inside_sqrt)

    @torch.no_grad()
    def step(self, closure=None, *, scale=1., grad_norms=None):
        """One step. Gradients are divided by `scale`; `grad_norms` has the norm of each group's gradients, times scale."""
        return self._step(closure, [self._grad_scale(group, scale, None if grad_norms is None else grad_norms[index])
                                    for index, group in enumerate(self.param_groups)])

    def _grad_scale(self, group, scale, grad_norm):
        if group["max_grad_norm"] <= 0:
            return 1 / scale
        if grad_norm is None:
            raise ValueError(f"{type(self).__name__}: max_grad_norm: step needs grad_norms to clip by it")
        return 1 / (scale * max(1.0, (float(grad_norm) / scale + 1e-6) / group["max_grad_norm"]))

    def _arguments(self, group, lr, step):
        return (lr, *group["betas"], group["eps"], step, self.eps_inside_sqrt, group["bias_correction"], group["weight_decay"],
                group["min_coeff"], group["max_coeff"])
