"""dsbuild.optim on the CPU: the CPU classes over a bundle's ops, the CUDA classes over their formulas in float64, which stand
in for the ops here. Against torch's own optimisers and adam_reference.py.

The bundle's folder is named by DSBUILD_BUNDLE. Exits with 77 where torch is not installed.
"""

import copy
import inspect
import io
import os
import unittest

import support  # exits with 77 where something is missing

try:
    import torch
except ImportError:
    support.skip("torch is not installed")
os.environ.setdefault("DSBUILD_JIT", "0")
if not os.environ.get("DSBUILD_BUNDLE"):
    support.skip("DSBUILD_BUNDLE is not set (the folder of a bundle, as dsbuild makes it)")

import adam_reference
import lamb_reference
import lion_reference

from dsbuild import optim

CALLS = []  # of the operators that stand in for the CUDA ops: (name, number of parameters, lr, step)


def stand_in(name, reference, states, options):
    """The CPU kernel of a CUDA operator and of its overload `tensor`: a step of the reference."""
    def step(params, grads, *rest):
        moments, numbers = rest[:states], rest[states:]
        own = reference.Options(**dict(zip(options, map(float_of, numbers))))
        CALLS.append((name, len(params), numbers[0], numbers[options.index("step")] if "step" in options else None))
        for tensors in zip(params, grads, *moments):
            new = reference.reference_step(*(t.detach().double() for t in tensors), own)
            for tensor, value in zip((tensors[0], *tensors[2:]), new):
                tensor.detach().copy_(value)

    library = torch.library.Library("dsbuild", "IMPL")
    for overload in ("", ".tensor"):
        library.impl(name + overload, step, "CPU")
    return library


def float_of(number):
    return number.item() if isinstance(number, torch.Tensor) else number


def options_of(reference):
    return [field for field in vars(reference.Options())]


LIBRARIES = [stand_in("fused_adam_step", adam_reference, 2, options_of(adam_reference)),
             stand_in("fused_lion_step", lion_reference, 1, options_of(lion_reference)),
             stand_in("fused_lamb_step", lamb_reference, 2, options_of(lamb_reference))]


def on_the_cpu(kind):
    """The class of a CUDA optimiser with the CPU in the place of the GPU."""
    return type(kind.__name__, (kind,), {"_device": "cpu"})


FusedAdam, FusedLion, FusedLamb = map(on_the_cpu, (optim.FusedAdam, optim.FusedLion, optim.FusedLamb))
EVERY = (FusedAdam, FusedLamb, FusedLion, optim.CPUAdam, optim.CPUAdagrad, optim.CPULion)
SHAPES = ((33, 5), (7,), (), (130,))


def parameters(seed=0, dtype=torch.float32, shapes=SHAPES):
    generator = torch.Generator().manual_seed(seed)
    return [torch.nn.Parameter(torch.randn(shape, generator=generator).to(dtype)) for shape in shapes]


def set_grads(params, seed):
    generator = torch.Generator().manual_seed(1000 + seed)
    for param in params:
        param.grad = torch.randn(param.shape, generator=generator).to(param.dtype)


def take_steps(optimizer, params, numbers):
    for number in numbers:
        set_grads(params, number)
        optimizer.step()


class Case(unittest.TestCase):
    def assert_close(self, params, others, **tolerance):
        for own, other in zip(params, others):
            torch.testing.assert_close(own.detach(), other.detach(), **{"rtol": 1e-5, "atol": 1e-6, **tolerance})

    def assert_equal(self, params, others):
        self.assert_close(params, others, rtol=0, atol=0)


class Steps(Case):
    def compare(self, kind, torchs, steps=10):
        for capturable in (False, True):
            own, other = parameters(), parameters()
            mine, theirs = kind(own, capturable), torchs(other)
            for number in range(steps):
                take_steps(mine, own, [number])
                take_steps(theirs, other, [number])
            self.assert_close(own, other)

    def test_adamw_is_torchs(self):
        for kind in (FusedAdam, optim.CPUAdam):
            self.compare(lambda p, c: kind(p, lr=0.01, weight_decay=0.1, capturable=c),
                         lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.1))

    def test_adam_is_torchs(self):
        self.compare(lambda p, c: FusedAdam(p, lr=0.01, weight_decay=0.1, adam_w_mode=False, capturable=c),
                     lambda p: torch.optim.Adam(p, lr=0.01, weight_decay=0.1))
        self.compare(lambda p, c: optim.CPUAdam(p, lr=0.01, weight_decay=0.1, adamw_mode=False, capturable=c),
                     lambda p: torch.optim.Adam(p, lr=0.01, weight_decay=0.1))

    def test_adagrad_is_torchs(self):
        self.compare(lambda p, c: optim.CPUAdagrad(p, weight_decay=0.1, capturable=c),
                     lambda p: torch.optim.Adagrad(p, weight_decay=0.1))

    def test_lion_and_lamb_are_their_formulas(self):
        for kind, reference, names in ((FusedLion, lion_reference, ("exp_avg",)), (optim.CPULion, lion_reference, ("exp_avg",)),
                                       (FusedLamb, lamb_reference, ("exp_avg", "exp_avg_sq"))):
            own = parameters()
            wanted = [[p.detach().double(), *(torch.zeros_like(p).double() for _ in names)] for p in own]
            optimizer = kind(own, lr=0.01, weight_decay=0.1)
            for number in range(1, 6):
                take_steps(optimizer, own, [number])
                options = reference.Options(lr=0.01, weight_decay=0.1, beta1=0.9, beta2=0.999)
                if hasattr(options, "step"):
                    options.step = number
                for index, (param, state) in enumerate(zip(own, wanted)):
                    wanted[index] = reference.reference_step(state[0], param.grad.double(), *state[1:], options)
            self.assert_close(own, [state[0].float() for state in wanted])

    def test_one_call_for_each_group_and_dtype(self):
        params = parameters() + parameters(dtype=torch.bfloat16)
        more = parameters(seed=3)
        optimizer = FusedAdam([{"params": params}, {"params": more, "lr": 0.5}], lr=0.1)
        for number in (1, 2):
            CALLS.clear()
            take_steps(optimizer, params + more, [number])
            self.assertEqual(CALLS, [("fused_adam_step", 4, 0.1, number), ("fused_adam_step", 4, 0.1, number),
                                     ("fused_adam_step", 4, 0.5, number)])

    def test_moments_are_float32(self):
        params = parameters(dtype=torch.bfloat16)
        optimizer = FusedAdam(params)
        take_steps(optimizer, params, [1])
        self.assertEqual({optimizer.state[p][name].dtype for p in params for name in ("exp_avg", "exp_avg_sq")}, {torch.float32})

    def test_a_parameter_without_a_gradient_keeps_its_step(self):
        for capturable in (False, True):
            own, other = parameters(), parameters()
            mine = FusedAdam(own, lr=0.01, weight_decay=0.0, capturable=capturable)
            theirs = torch.optim.AdamW(other, lr=0.01, weight_decay=0.0)
            for number, left_out in enumerate((1, None, 2, 1, None, None)):
                for params, optimizer in ((own, mine), (other, theirs)):
                    set_grads(params, number)
                    if left_out is not None:
                        params[left_out].grad = None
                    optimizer.step()
            self.assert_close(own, other)
            self.assertEqual([float(mine.state[p]["step"]) for p in own], [float(theirs.state[p]["step"]) for p in other])

    def test_no_gradient_at_all_is_no_work(self):
        for kind in EVERY:
            params = parameters()
            before = [p.detach().clone() for p in params]
            optimizer = kind(params)
            optimizer.step()
            self.assert_equal(params, before)
            self.assertEqual(len(optimizer.state), 0)

    def test_a_closure_is_called_with_gradients_on_and_its_loss_is_returned(self):
        for kind in EVERY:
            params = parameters()
            optimizer = kind(params)

            def closure():
                optimizer.zero_grad()
                loss = sum((p * p).sum() for p in params)
                loss.backward()
                return loss

            before = closure().item()
            self.assertAlmostEqual(optimizer.step(closure).item(), before, places=4)
            self.assertLess(closure().item(), before)

    def test_sparse_gradients_are_refused(self):
        for kind in EVERY:
            param = torch.nn.Parameter(torch.ones(4, 2))
            param.grad = torch.sparse_coo_tensor([[1]], torch.ones(1, 2), (4, 2), check_invariants=True)
            with self.assertRaisesRegex(RuntimeError, rf"^{kind.__name__}: sparse gradients are not taken$"):
                kind([param]).step()

    def test_parameters_elsewhere_are_refused(self):
        param = torch.nn.Parameter(torch.ones(4))
        param.grad = torch.ones(4)
        with self.assertRaisesRegex(ValueError, "^FusedAdam: expected parameters on cuda, got one on cpu$"):
            optim.FusedAdam([param]).step()

    def test_learning_rates_of_a_scheduler(self):
        for capturable in (False, True):
            own, other = parameters(), parameters()
            mine, theirs = optim.CPUAdam(own, lr=0.1, capturable=capturable), torch.optim.AdamW(other, lr=0.1, weight_decay=0)
            schedulers = [torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5) for optimizer in (mine, theirs)]
            lr = mine.param_groups[0]["lr"]
            for number in range(6):
                for params, optimizer, scheduler in zip((own, other), (mine, theirs), schedulers):
                    take_steps(optimizer, params, [number])
                    scheduler.step()
            self.assert_close(own, other)
            self.assertEqual(mine.param_groups[0]["lr"] is lr, capturable)  # the same tensor all along

    def test_zero_grad(self):
        for none in (True, False):
            params = parameters()
            set_grads(params, 1)
            optimizer = FusedAdam(params, set_grad_none=none)
            optimizer.zero_grad()
            self.assertEqual([p.grad is None for p in params], [none] * len(params))

    def test_lamb_is_told_scale_and_norms(self):
        grads_by_four, plain, clipped = parameters(), parameters(), parameters()
        for params, factor, options, words in ((grads_by_four, 4, {}, {"scale": 4.0}), (plain, 1, {}, {}),
                                               (clipped, 10, {"max_grad_norm": 1.0}, {"grad_norms": [10.0 - 1e-6]})):
            set_grads(params, 1)
            for param in params:
                param.grad *= factor
            FusedLamb(params, lr=0.1, **options).step(**words)
        self.assert_close(grads_by_four, plain)
        self.assert_close(clipped, plain)
        params = parameters()
        set_grads(params, 1)
        with self.assertRaisesRegex(ValueError, "^FusedLamb: max_grad_norm: step needs grad_norms"):
            FusedLamb(params, max_grad_norm=1.0).step()


# As DeepSpeed's constructors have them.
SIGNATURES = {
    "FusedAdam": "params, lr=0.001, bias_correction=True, betas=(0.9, 0.999), eps=1e-08, adam_w_mode=True, weight_decay=0.0, "
                 "amsgrad=False, set_grad_none=True",
    "FusedLamb": "params, lr=0.001, bias_correction=True, betas=(0.9, 0.999), eps=1e-08, eps_inside_sqrt=False, "
                 "weight_decay=0.0, max_grad_norm=0.0, max_coeff=10.0, min_coeff=0.01, amsgrad=False",
    "FusedLion": "params, lr=0.001, betas=(0.9, 0.999), weight_decay=0.0, set_grad_none=True",
    "CPUAdam": "model_params, lr=0.001, bias_correction=True, betas=(0.9, 0.999), eps=1e-08, weight_decay=0, amsgrad=False, "
               "adamw_mode=True, fp32_optimizer_states=True",
    "CPUAdagrad": "model_params, lr=0.01, eps=1e-10, weight_decay=0, amsgrad=False, fp32_optimizer_states=True",
    "CPULion": "model_params, lr=0.001, betas=(0.9, 0.999), weight_decay=0, fp32_optimizer_states=True"}


class Arguments(Case):
    def test_they_are_deepspeeds_with_capturable_behind_them(self):
        for name, words in SIGNATURES.items():
            self.assertEqual(str(inspect.signature(getattr(optim, name))), f"({words}, *, capturable=False)")

    def test_what_is_not_done_is_refused_by_name(self):
        for kind, words, message in ((optim.FusedAdam, {"amsgrad": True}, "FusedAdam: amsgrad: expected False, got True"),
                                     (optim.FusedLamb, {"amsgrad": True}, "FusedLamb: amsgrad: expected False, got True"),
                                     (optim.CPUAdam, {"fp32_optimizer_states": False},
                                      "CPUAdam: fp32_optimizer_states: expected True, got False"),
                                     (optim.FusedAdam, {"lr": torch.tensor(0.1)},
                                      "FusedAdam: lr: expected a number, or capturable=True")):
            with self.assertRaises(ValueError) as caught:
                kind(parameters(), **words)
            self.assertEqual(str(caught.exception), message)
        with self.assertRaisesRegex(TypeError, "fused"):
            optim.FusedAdam(parameters(), fused=True)


class Checkpoints(Case):
    def test_a_round_trip_goes_on_as_if_nothing_had_been(self):
        for kind in EVERY:
            for dtype in (torch.float32, torch.bfloat16) if kind in (FusedAdam, FusedLamb, FusedLion) else (torch.float32,):
                for before, after in ((False, False), (True, True), (False, True), (True, False)):
                    with self.subTest(kind=kind.__name__, dtype=dtype, capturable=(before, after)):
                        self.round_trip(kind, dtype, before, after)

    def round_trip(self, kind, dtype, before, after):
        lr = 2.0**-6  # the same number in float32
        whole = parameters(dtype=dtype)
        optimizer = kind(whole, lr=lr, weight_decay=0.1, capturable=before)
        take_steps(optimizer, whole, range(3))
        file = io.BytesIO()
        torch.save(optimizer.state_dict(), file)
        file.seek(0)
        loaded = [torch.nn.Parameter(p.detach().clone()) for p in whole]
        second = kind(loaded, lr=0.5, capturable=after)
        second.load_state_dict(torch.load(file))
        self.assertEqual(second.param_groups[0]["capturable"], after)
        self.assertEqual(isinstance(second.param_groups[0]["lr"], torch.Tensor), after)
        self.assertEqual({float(state["step"]) for state in second.state.values()}, {3.0})
        take_steps(optimizer, whole, range(3, 6))
        CALLS.clear()
        take_steps(second, loaded, range(3, 6))
        self.assert_equal(whole, loaded)
        self.assertIn(len(CALLS), (0, 3))  # of the stand-ins: one for each step

    def test_to_and_from_torchs_adamw(self):
        for kind in (FusedAdam, optim.CPUAdam):
            for there in (True, False):
                makers = [lambda p: kind(p, lr=0.01, weight_decay=0.1), lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.1)]
                first, second = makers if there else reversed(makers)
                whole, reference = parameters(), parameters()
                one, always = first(whole), torch.optim.AdamW(reference, lr=0.01, weight_decay=0.1)
                take_steps(one, whole, range(3))
                other = second(whole)
                other.load_state_dict(copy.deepcopy(one.state_dict()))
                take_steps(other, whole, range(3, 6))
                take_steps(always, reference, range(6))
                self.assert_close(whole, reference)

    def test_a_step_that_is_a_number_is_taken(self):
        params = parameters()
        optimizer = FusedAdam(params)
        take_steps(optimizer, params, [1])
        saved = optimizer.state_dict()
        for state in saved["state"].values():
            state["step"] = 7
        optimizer.load_state_dict(saved)
        CALLS.clear()
        take_steps(optimizer, params, [2])
        self.assertEqual(CALLS, [("fused_adam_step", 4, 0.001, 8)])

    def test_amsgrad_of_torch_is_refused(self):
        params = parameters()
        theirs = torch.optim.AdamW(params, amsgrad=True)
        take_steps(theirs, params, [1])
        with self.assertRaisesRegex(ValueError, "^FusedAdam: load_state_dict: amsgrad: expected False$"):
            FusedAdam(params).load_state_dict(theirs.state_dict())

    def test_a_group_that_is_added_later(self):
        own, other = parameters(), parameters()
        mine, theirs = (kind(params[:2], lr=0.01, weight_decay=0.1) for kind, params in
                        ((FusedAdam, own), (torch.optim.AdamW, other)))
        for optimizer, params in ((mine, own), (theirs, other)):
            take_steps(optimizer, params, [0])
            optimizer.add_param_group({"params": params[2:], "lr": 0.02})
            take_steps(optimizer, params, [1, 2])
        self.assert_close(own, other)

    def test_a_deep_copy(self):
        for kind in EVERY:
            params = parameters()
            optimizer = kind(params, capturable=True)
            take_steps(optimizer, params, [1])
            twin = copy.deepcopy(optimizer)
            copies = twin.param_groups[0]["params"]
            take_steps(optimizer, params, [2])
            take_steps(twin, copies, [2])
            twin.zero_grad()
            self.assert_equal(params, copies)


class Compiled(Case):
    def test_a_step_is_one_graph_and_is_compiled_once(self):
        for kind in (optim.CPUAdam, optim.CPUAdagrad, optim.CPULion):
            for capturable in (True, False):
                with self.subTest(kind=kind.__name__, capturable=capturable):
                    torch._dynamo.reset()
                    own, other = parameters(), parameters()
                    mine, eager = kind(own, lr=2.0**-6, capturable=capturable), kind(other, lr=2.0**-6, capturable=capturable)
                    graphs = []

                    def backend(graph, _):
                        graphs.append(graph)
                        return graph.forward

                    compiled = torch.compile(mine.step, fullgraph=True, backend=backend)
                    for number in range(5):
                        set_grads(own, number)
                        set_grads(other, number)
                        compiled()
                        eager.step()
                        if capturable:
                            for optimizer in (mine, eager):
                                optimizer.param_groups[0]["lr"].mul_(0.5)
                    self.assert_equal(own, other)
                    # torch compiles a second time where the first call has made the states.
                    self.assertLessEqual(len(graphs), 2)


if __name__ == "__main__":
    unittest.main()
