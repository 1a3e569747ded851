"""The ops of the pack `native`, for type checkers and editors: what dsbuild.load returns for each of them.

There is no module of this name when a program runs: import from it below `if typing.TYPE_CHECKING:`. Made by
scripts/make_stubs.py of the functions.yaml of each op. Arguments are positional. Every call checks all of them before it
changes anything, and an error names its argument: "fused_adam_step: grads[3]: expected contiguous".

CUDA ops run on the caller's current stream of the tensors' device and return without waiting for it. All tensors of a
call are on one device, contiguous, and do not overlap.
"""

import os
import types
from collections.abc import Sequence
from typing import Any, Literal, Protocol, overload

class Tensor(Protocol):
    """Whatever DLPack shares without a copy: tensors of PyTorch, JAX, CuPy, tvm-ffi, arrays of NumPy."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __dlpack_device__(self) -> Any: ...

class _DtypeObject(Protocol):
    @property
    def itemsize(self) -> int: ...

# "float16", or a dtype of tvm-ffi, NumPy or PyTorch.
Dtype = str | _DtypeObject

class AsyncIoHandle:
    """Threads and their queue. Losing the last reference waits for what was started and ends them."""

class AsyncIo(Protocol):
    """Tensors to and from files by Linux asynchronous I/O."""

    def async_io_open(
        self,
        queue_depth: int = 32,
        block_size: int = 1048576,
        threads: int = 1,
        direct: bool = True,
        /,
    ) -> AsyncIoHandle:
        """Starts threads that move blocks between tensors and files.

        Args:
            queue_depth: As many are in flight for each thread. In blocks; a number from 1 to 65536.
            block_size: Transfers are cut into blocks of so many; at most 1 GiB. In bytes; a multiple of the page
                size.
            threads: They share all blocks. In threads; a number from 1 to 256.
            direct: Whole pages go past the page cache where the file system can do it.

        Returns:
            What the other functions take.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here.
            ValueError: A value is not what it must be.
            RuntimeError: The system refuses a thread or a queue.

        Source:
            Linux asynchronous I/O (io_submit(2)), with O_DIRECT where it can be. The op does what DeepSpeed's does
                for Rajbhandari et al., "ZeRO-Infinity" (arXiv:2104.07857); its functions are this project's own.
        """

    def async_io_close(self, handle: AsyncIoHandle, /) -> None:
        """Waits for all that was started, then ends the threads. A handle that is closed stays so.

        Args:
            handle: Of async_io_open.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here.
            RuntimeError: A transfer that was started has failed: the first one, with path and offset.

        Source:
            Linux asynchronous I/O (io_submit(2)), with O_DIRECT where it can be. The op does what DeepSpeed's does
                for Rajbhandari et al., "ZeRO-Infinity" (arXiv:2104.07857); its functions are this project's own.
        """

    def async_io_read(self, handle: AsyncIoHandle, tensor: Tensor, path: str, offset: int = 0, /) -> None:
        """Fills a tensor from a file and waits for it.

        Args:
            handle: Of async_io_open.
            tensor: Written to. On the CPU; of any dtype. Shape: any; any dtype.
            path: Of the file. Such as "/data/weights.bin".
            offset: Where in the file the tensor begins. In bytes; a place in a file.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here.
            ValueError: A value is not what it must be; the handle is closed, or the tensor not on the CPU or not
                contiguous.
            RuntimeError: The system refuses something, or the file is too short: with path and offset.

        Source:
            Linux asynchronous I/O (io_submit(2)), with O_DIRECT where it can be. The op does what DeepSpeed's does
                for Rajbhandari et al., "ZeRO-Infinity" (arXiv:2104.07857); its functions are this project's own.
        """

    def async_io_write(self, handle: AsyncIoHandle, tensor: Tensor, path: str, offset: int = 0, /) -> None:
        """Writes a tensor to a file and waits for it; makes a file that is not there, and never cuts one.

        Args:
            handle: Of async_io_open.
            tensor: On the CPU; of any dtype. Shape: any; any dtype.
            path: Of the file. Such as "/data/weights.bin".
            offset: Where in the file the tensor begins. In bytes; a place in a file.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here.
            ValueError: A value is not what it must be; the handle is closed, or the tensor not on the CPU or not
                contiguous.
            RuntimeError: The system refuses something, or there is no room: with path and offset.

        Source:
            Linux asynchronous I/O (io_submit(2)), with O_DIRECT where it can be. The op does what DeepSpeed's does
                for Rajbhandari et al., "ZeRO-Infinity" (arXiv:2104.07857); its functions are this project's own.
        """

    def async_io_start_read(self, handle: AsyncIoHandle, tensor: Tensor, path: str, offset: int = 0, /) -> None:
        """Begins to fill a tensor from a file. Until async_io_wait the caller keeps the tensor and leaves it alone.

        Args:
            handle: Of async_io_open.
            tensor: Written to. On the CPU; of any dtype. Shape: any; any dtype.
            path: Of the file. Such as "/data/weights.bin".
            offset: Where in the file the tensor begins. In bytes; a place in a file.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here.
            ValueError: A value is not what it must be; the handle is closed, or the tensor not on the CPU or not
                contiguous.
            RuntimeError: The file cannot be opened, or is too short.

        Source:
            Linux asynchronous I/O (io_submit(2)), with O_DIRECT where it can be. The op does what DeepSpeed's does
                for Rajbhandari et al., "ZeRO-Infinity" (arXiv:2104.07857); its functions are this project's own.
        """

    def async_io_start_write(self, handle: AsyncIoHandle, tensor: Tensor, path: str, offset: int = 0, /) -> None:
        """Begins to write a tensor to a file. Until async_io_wait the caller keeps the tensor and leaves it alone.

        Args:
            handle: Of async_io_open.
            tensor: On the CPU; of any dtype. Shape: any; any dtype.
            path: Of the file. Such as "/data/weights.bin".
            offset: Where in the file the tensor begins. In bytes; a place in a file.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here.
            ValueError: A value is not what it must be; the handle is closed, or the tensor not on the CPU or not
                contiguous.
            RuntimeError: The file cannot be opened, or there is no room.

        Source:
            Linux asynchronous I/O (io_submit(2)), with O_DIRECT where it can be. The op does what DeepSpeed's does
                for Rajbhandari et al., "ZeRO-Infinity" (arXiv:2104.07857); its functions are this project's own.
        """

    def async_io_wait(self, handle: AsyncIoHandle, /) -> int:
        """Waits for all that was started, by whatever thread.

        Args:
            handle: Of async_io_open.

        Returns:
            How many transfers those were.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here.
            ValueError: The handle is closed.
            RuntimeError: A transfer that was started has failed: the first one, with path and offset.

        Source:
            Linux asynchronous I/O (io_submit(2)), with O_DIRECT where it can be. The op does what DeepSpeed's does
                for Rajbhandari et al., "ZeRO-Infinity" (arXiv:2104.07857); its functions are this project's own.
        """

class CpuAdagrad(Protocol):
    """Adagrad on the CPU, with the fastest instructions that it has."""

    def cpu_adagrad_step(
        self,
        params: Sequence[Tensor],
        grads: Sequence[Tensor],
        exp_avg_sqs: Sequence[Tensor],
        lr: float | Tensor,
        eps: float,
        weight_decay: float,
        grad_scale: float = 1.0,
        /,
    ) -> None:
        """Takes one step of Adagrad over lists of CPU tensors, in place, with OpenMP threads.

        Args:
            params: Written to. The parameters. Shape: any, one for each tensor; float32.
            grads: The gradients, each of a dtype of its own. Shape: those of params; float32 or float16 or bfloat16.
            exp_avg_sqs: Written to. Sums of the squares of all gradients so far; zeros before the first step. Shape:
                those of params; float32.
            lr: Learning rate. Of a tensor on a GPU the value is not checked. A finite number; such as 0.001.
            eps: Added to the root of the sum. A finite number >= 0; such as 1e-10.
            weight_decay: Weight decay, added to the gradient (L2); 0.0 is none. A finite number; such as 0.01.
            grad_scale: Gradients are multiplied by it; one over the loss scale. A finite number.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on the CPU, not contiguous, or of another shape than here; a value is not what
                it must be; the lists are not of the same length.

        Source:
            Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization"
                (JMLR 12, 2011). The options are named as in DeepSpeed's CPUAdagrad; weight decay is added to the
                gradient everywhere, as in torch.optim.Adagrad (DeepSpeed's adds it to the gradient that is squared
                alone).
        """

    def cpu_adagrad_isa(self, /) -> str:
        """Tells which path this process uses.

        Returns:
            "avx512", "avx2" or "scalar".

        Raises:
            TypeError: An argument is given.

        Source:
            Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization"
                (JMLR 12, 2011). The options are named as in DeepSpeed's CPUAdagrad; weight decay is added to the
                gradient everywhere, as in torch.optim.Adagrad (DeepSpeed's adds it to the gradient that is squared
                alone).
        """

    def cpu_adagrad_use_isa(self, name: Literal["auto", "scalar", "avx2", "avx512"], /) -> None:
        """Chooses the path for the whole process.

        Args:
            name: The path; auto is the fastest that this CPU can run. Other CPUs than x86-64 have scalar alone.
                "auto" or "scalar" or "avx2" or "avx512".

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here.
            ValueError: A value is not what it must be; this CPU cannot run the path.

        Source:
            Duchi, Hazan and Singer, "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization"
                (JMLR 12, 2011). The options are named as in DeepSpeed's CPUAdagrad; weight decay is added to the
                gradient everywhere, as in torch.optim.Adagrad (DeepSpeed's adds it to the gradient that is squared
                alone).
        """

class CpuAdam(Protocol):
    """Adam and AdamW on the CPU, with the fastest instructions that it has."""

    def cpu_adam_step(
        self,
        params: Sequence[Tensor],
        grads: Sequence[Tensor],
        exp_avgs: Sequence[Tensor],
        exp_avg_sqs: Sequence[Tensor],
        lr: float | Tensor,
        beta1: float,
        beta2: float,
        eps: float,
        step: int | Tensor,
        adam_w_mode: bool,
        bias_correction: bool,
        weight_decay: float,
        grad_scale: float = 1.0,
        /,
    ) -> None:
        """Takes one step of Adam or AdamW over lists of CPU tensors, in place, with OpenMP threads.

        Args:
            params: Written to. The parameters. Shape: any, one for each tensor; float32.
            grads: The gradients, each of a dtype of its own. Shape: those of params; float32 or float16 or bfloat16.
            exp_avgs: Written to. First moments; zeros before the first step. Shape: those of params; float32.
            exp_avg_sqs: Written to. Second moments; zeros before the first step. Shape: those of params; float32.
            lr: Learning rate. Of a tensor on a GPU the value is not checked. A finite number; such as 0.001.
            beta1: Decay of the first moments per step. A number in [0, 1); such as 0.9.
            beta2: Decay of the second moments per step. A number in [0, 1); such as 0.999.
            eps: Added to the root of the second moment. A finite number >= 0; such as 1e-08.
            step: Number of the step; the first one is 1. Of a tensor on a GPU the value is not checked. 1 or more;
                such as 1.
            adam_w_mode: True: weight decay apart from the gradient (AdamW); False: added to the gradient (L2).
            bias_correction: False: both corrections of the moments are 1.
            weight_decay: Weight decay; 0.0 is none. A finite number; such as 0.01.
            grad_scale: Gradients are multiplied by it; one over the loss scale. A finite number.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on the CPU, not contiguous, or of another shape than here; a value is not what
                it must be; the lists are not of the same length.

        Source:
            Kingma and Ba, "Adam: A Method for Stochastic Optimization" (arXiv:1412.6980); adam_w_mode: Loshchilov and
                Hutter, "Decoupled Weight Decay Regularization" (arXiv:1711.05101). The options are named as in
                DeepSpeed's CPUAdam.
        """

    def cpu_adam_isa(self, /) -> str:
        """Tells which path this process uses.

        Returns:
            "avx512", "avx2" or "scalar".

        Raises:
            TypeError: An argument is given.

        Source:
            Kingma and Ba, "Adam: A Method for Stochastic Optimization" (arXiv:1412.6980); adam_w_mode: Loshchilov and
                Hutter, "Decoupled Weight Decay Regularization" (arXiv:1711.05101). The options are named as in
                DeepSpeed's CPUAdam.
        """

    def cpu_adam_use_isa(self, name: Literal["auto", "scalar", "avx2", "avx512"], /) -> None:
        """Chooses the path for the whole process.

        Args:
            name: The path; auto is the fastest that this CPU can run. Other CPUs than x86-64 have scalar alone.
                "auto" or "scalar" or "avx2" or "avx512".

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here.
            ValueError: A value is not what it must be; this CPU cannot run the path.

        Source:
            Kingma and Ba, "Adam: A Method for Stochastic Optimization" (arXiv:1412.6980); adam_w_mode: Loshchilov and
                Hutter, "Decoupled Weight Decay Regularization" (arXiv:1711.05101). The options are named as in
                DeepSpeed's CPUAdam.
        """

class CpuLion(Protocol):
    """Lion on the CPU, with the fastest instructions that it has."""

    def cpu_lion_step(
        self,
        params: Sequence[Tensor],
        grads: Sequence[Tensor],
        exp_avgs: Sequence[Tensor],
        lr: float | Tensor,
        beta1: float,
        beta2: float,
        weight_decay: float,
        grad_scale: float = 1.0,
        /,
    ) -> None:
        """Takes one step of Lion over lists of CPU tensors, in place, with OpenMP threads.

        Args:
            params: Written to. The parameters. Shape: any, one for each tensor; float32.
            grads: The gradients, each of a dtype of its own. Shape: those of params; float32 or float16 or bfloat16.
            exp_avgs: Written to. Moments; zeros before the first step. Shape: those of params; float32.
            lr: Learning rate. Of a tensor on a GPU the value is not checked. A finite number; such as 0.001.
            beta1: Share of the moment in the direction of the step. A number in [0, 1); such as 0.9.
            beta2: Decay of the moments per step. A number in [0, 1); such as 0.99.
            weight_decay: Weight decay, apart from the gradient; 0.0 is none. A finite number; such as 0.01.
            grad_scale: Gradients are multiplied by it; one over the loss scale. A finite number.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on the CPU, not contiguous, or of another shape than here; a value is not what
                it must be; the lists are not of the same length.

        Source:
            Chen et al., "Symbolic Discovery of Optimization Algorithms" (arXiv:2302.06675). The options are named as
                in DeepSpeed's CPULion, which moves a parameter whose direction is 0 by lr; here, as in the paper, it
                is not moved.
        """

    def cpu_lion_isa(self, /) -> str:
        """Tells which path this process uses.

        Returns:
            "avx512", "avx2" or "scalar".

        Raises:
            TypeError: An argument is given.

        Source:
            Chen et al., "Symbolic Discovery of Optimization Algorithms" (arXiv:2302.06675). The options are named as
                in DeepSpeed's CPULion, which moves a parameter whose direction is 0 by lr; here, as in the paper, it
                is not moved.
        """

    def cpu_lion_use_isa(self, name: Literal["auto", "scalar", "avx2", "avx512"], /) -> None:
        """Chooses the path for the whole process.

        Args:
            name: The path; auto is the fastest that this CPU can run. Other CPUs than x86-64 have scalar alone.
                "auto" or "scalar" or "avx2" or "avx512".

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here.
            ValueError: A value is not what it must be; this CPU cannot run the path.

        Source:
            Chen et al., "Symbolic Discovery of Optimization Algorithms" (arXiv:2302.06675). The options are named as
                in DeepSpeed's CPULion, which moves a parameter whose direction is 0 by lr; here, as in the paper, it
                is not moved.
        """

class EvoformerAttn(Protocol):
    """Evoformer attention with two biases, forward and backward."""

    def evoformer_attn_forward(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        bias1: Tensor | None,
        bias2: Tensor | None,
        out: Tensor,
        lse: Tensor,
        family: Literal["", "70", "75", "80"] = "",
        /,
    ) -> None:
        """Computes attention with two biases.

        Args:
            q: Queries. * is any number of batch dimensions, D a multiple of 8 from 8 to 64. Shape [*, N, S, H, D];
                float16 or bfloat16.
            k: Keys; of q's dtype. Shape [*, N, K, H, D]; float16 or bfloat16.
            v: Values; of q's dtype. Shape [*, N, K, H, D]; float16 or bfloat16.
            bias1: One for each key; None for no bias. Shape [*, N, 1, 1, K]; float16 or bfloat16.
            bias2: One for each query, key and head, the same for all N; None for no bias. Shape [*, 1, H, S, K];
                float16 or bfloat16.
            out: Written to. The attention; of q's dtype. Shape [*, N, S, H, D]; float16 or bfloat16.
            lse: Written to. log(sum(exp(scores))): the forward pass writes it for the backward pass. Shape [*, N, H,
                S]; float32.
            family: The kernels: "" for the newest that runs here, or one by name, for tests. "" or "70" or "75" or
                "80".

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here; the tensors are bfloat16 and the kernels that run here have none (below 8.0).
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be; a tensor does not begin at a multiple of 16 bytes, or the
                library does not run the family here.
            RuntimeError: The launch failed, or the library has no code for the GPU; the GPU is below compute
                capability 7.0.

        Source:
            The attention of Jumper et al., "Highly accurate protein structure prediction with AlphaFold" (Nature 596,
                2021, supplement 1.6), with the softmax in one pass over the keys of Dao et al., "FlashAttention"
                (arXiv:2205.14135). Shapes of q, k, v and the biases are those of DeepSpeed's
                DS4Sci_EvoformerAttention.
        """

    def evoformer_attn_backward(
        self,
        grad_out: Tensor,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        bias1: Tensor | None,
        bias2: Tensor | None,
        out: Tensor,
        lse: Tensor,
        grad_q: Tensor,
        grad_k: Tensor,
        grad_v: Tensor,
        grad_bias1: Tensor | None,
        grad_bias2: Tensor | None,
        scratch: Tensor,
        family: Literal["", "70", "75", "80"] = "",
        /,
    ) -> None:
        """Computes the gradients of attention with two biases. Every run gives the same bits.

        Args:
            grad_out: Gradient of out; of q's dtype. Shape [*, N, S, H, D]; float16 or bfloat16.
            q: Queries. * is any number of batch dimensions, D a multiple of 8 from 8 to 64. Shape [*, N, S, H, D];
                float16 or bfloat16.
            k: Keys; of q's dtype. Shape [*, N, K, H, D]; float16 or bfloat16.
            v: Values; of q's dtype. Shape [*, N, K, H, D]; float16 or bfloat16.
            bias1: One for each key; None for no bias. Shape [*, N, 1, 1, K]; float16 or bfloat16.
            bias2: One for each query, key and head, the same for all N; None for no bias. Shape [*, 1, H, S, K];
                float16 or bfloat16.
            out: The attention; of q's dtype. Shape [*, N, S, H, D]; float16 or bfloat16.
            lse: log(sum(exp(scores))): the forward pass writes it for the backward pass. Shape [*, N, H, S]; float32.
            grad_q: Written to. Gradient of q; written, not added to. Shape [*, N, S, H, D]; float16 or bfloat16.
            grad_k: Written to. Gradient of k; written, not added to. Shape [*, N, K, H, D]; float16 or bfloat16.
            grad_v: Written to. Gradient of v; written, not added to. Shape [*, N, K, H, D]; float16 or bfloat16.
            grad_bias1: Written to. Gradient of bias1; None where it is not wanted. Shape [*, N, 1, 1, K]; float16 or
                bfloat16.
            grad_bias2: Written to. Gradient of bias2; None where it is not wanted. Shape [*, 1, H, S, K]; float16 or
                bfloat16.
            scratch: Written to. Overwritten. Shape: at least evoformer_attn_scratch(q, k) elements; float32.
            family: The kernels: "" for the newest that runs here, or one by name, for tests. "" or "70" or "75" or
                "80".

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here; the tensors are bfloat16 and the kernels that run here have none (below 8.0).
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be; a tensor does not begin at a multiple of 16 bytes, or the
                library does not run the family here.
            RuntimeError: The launch failed, or the library has no code for the GPU; the GPU is below compute
                capability 7.0.

        Source:
            The attention of Jumper et al., "Highly accurate protein structure prediction with AlphaFold" (Nature 596,
                2021, supplement 1.6), with the softmax in one pass over the keys of Dao et al., "FlashAttention"
                (arXiv:2205.14135). Shapes of q, k, v and the biases are those of DeepSpeed's
                DS4Sci_EvoformerAttention.
        """

    def evoformer_attn_scratch(self, q: Tensor, k: Tensor, /) -> int:
        """Tells how many float32 elements scratch must have for such q and k.

        Args:
            q: Its shape is looked at, and nothing else. Shape [*, N, S, H, D]; any dtype.
            k: Its shape is looked at, and nothing else. Shape [*, N, K, H, D]; any dtype.

        Returns:
            A number of elements.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here.
            ValueError: Q or k has under 4 dimensions, or sizes that the op does not take.

        Source:
            The attention of Jumper et al., "Highly accurate protein structure prediction with AlphaFold" (Nature 596,
                2021, supplement 1.6), with the softmax in one pass over the keys of Dao et al., "FlashAttention"
                (arXiv:2205.14135). Shapes of q, k, v and the biases are those of DeepSpeed's
                DS4Sci_EvoformerAttention.
        """

    def evoformer_attn_family(self, tensor: Tensor, /) -> str:
        """Tells which kernels a call without family uses on the tensor's GPU.

        Args:
            tensor: On the GPU that is asked about. Shape: any; any dtype.

        Returns:
            "70", "75" or "80".

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here.
            ValueError: The tensor is not on a GPU.
            RuntimeError: The library has no code for the GPU, or it is below compute capability 7.0.

        Source:
            The attention of Jumper et al., "Highly accurate protein structure prediction with AlphaFold" (Nature 596,
                2021, supplement 1.6), with the softmax in one pass over the keys of Dao et al., "FlashAttention"
                (arXiv:2205.14135). Shapes of q, k, v and the biases are those of DeepSpeed's
                DS4Sci_EvoformerAttention.
        """

class Fp8Linear(Protocol):
    """Linear layers in fp8 (e4m3, e5m2) with one scale for each tensor."""

    def fp8_quantize(self, input: Tensor, scale: Tensor, codes: Tensor, format: Literal["e4m3", "e5m2"], /) -> None:
        """Quantises a tensor to 8-bit floats with one scale that is given.

        Args:
            input: The values. Shape: any; float32 or float16 or bfloat16.
            scale: A value is its code times it. Shape: 1 element; float32.
            codes: Written to. The 8-bit floats; codes.view(torch.float8_e4m3fn) shows those of e4m3 as PyTorch's
                type. Shape: that of the input; uint8.
            format: e4m3: largest value 448, no infinity ("e4m3fn"); e5m2: largest value 57344. "e4m3" or "e5m2".

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Micikevicius et al., "FP8 Formats for Deep Learning" (arXiv:2209.05433); the choices of a recipe are named
                as in NVIDIA's Transformer Engine. The products are cuBLASLt's.
        """

    def fp8_quantize_both(
        self,
        input: Tensor,
        scale: Tensor,
        codes: Tensor,
        codes_t: Tensor,
        format: Literal["e4m3", "e5m2"],
        /,
    ) -> None:
        """Quantises a matrix as fp8_quantize does, and writes its codes transposed too, in the same pass.

        Args:
            input: The values. Shape [R, C]; float32 or float16 or bfloat16.
            scale: A value is its code times it. Shape: 1 element; float32.
            codes: Written to. The 8-bit floats. Shape [R, C]; uint8.
            codes_t: Written to. The same, transposed. Shape [C, R]; uint8.
            format: e4m3: largest value 448, no infinity ("e4m3fn"); e5m2: largest value 57344. "e4m3" or "e5m2".

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Micikevicius et al., "FP8 Formats for Deep Learning" (arXiv:2209.05433); the choices of a recipe are named
                as in NVIDIA's Transformer Engine. The products are cuBLASLt's.
        """

    def fp8_quantize_delayed(
        self,
        input: Tensor,
        scale: Tensor,
        history: Tensor,
        slot: int,
        codes: Tensor,
        format: Literal["e4m3", "e5m2"],
        /,
    ) -> None:
        """Quantises as fp8_quantize does, and gathers the largest magnitude for the scales of later steps.

        Args:
            input: The values. Shape: any; float32 or float16 or bfloat16.
            scale: A value is its code times it. Shape: 1 element; float32.
            history: Written to. One element of it is raised to the largest finite magnitude of the input: as
                fp8_scale_update has it, [L, Q]. Shape: any; float32.
            slot: Of history, flattened: a column of its row 0. 0 or more; such as 0.
            codes: Written to. The 8-bit floats; codes.view(torch.float8_e4m3fn) shows those of e4m3 as PyTorch's
                type. Shape: that of the input; uint8.
            format: e4m3: largest value 448, no infinity ("e4m3fn"); e5m2: largest value 57344. "e4m3" or "e5m2".

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be; history has no element slot.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Micikevicius et al., "FP8 Formats for Deep Learning" (arXiv:2209.05433); the choices of a recipe are named
                as in NVIDIA's Transformer Engine. The products are cuBLASLt's.
        """

    def fp8_quantize_both_delayed(
        self,
        input: Tensor,
        scale: Tensor,
        history: Tensor,
        slot: int,
        codes: Tensor,
        codes_t: Tensor,
        format: Literal["e4m3", "e5m2"],
        /,
    ) -> None:
        """Quantises as fp8_quantize_both does, and gathers the largest magnitude for the scales of later steps.

        Args:
            input: The values. Shape [R, C]; float32 or float16 or bfloat16.
            scale: A value is its code times it. Shape: 1 element; float32.
            history: Written to. One element of it is raised to the largest finite magnitude of the input: as
                fp8_scale_update has it, [L, Q]. Shape: any; float32.
            slot: Of history, flattened: a column of its row 0. 0 or more; such as 0.
            codes: Written to. The 8-bit floats. Shape [R, C]; uint8.
            codes_t: Written to. The same, transposed. Shape [C, R]; uint8.
            format: e4m3: largest value 448, no infinity ("e4m3fn"); e5m2: largest value 57344. "e4m3" or "e5m2".

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be; history has no element slot.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Micikevicius et al., "FP8 Formats for Deep Learning" (arXiv:2209.05433); the choices of a recipe are named
                as in NVIDIA's Transformer Engine. The products are cuBLASLt's.
        """

    def fp8_quantize_current(
        self,
        input: Tensor,
        scale: Tensor,
        scratch: Tensor,
        codes: Tensor,
        format: Literal["e4m3", "e5m2"],
        /,
    ) -> None:
        """Quantises as fp8_quantize does, with the scale that makes the tensor's largest finite magnitude the format's
        largest value.

        Args:
            input: The values. Shape: any; float32 or float16 or bfloat16.
            scale: Written to. The scale of these values; of none it is 1. Shape: 1 element; float32.
            scratch: Written to. Overwritten. Shape: 1024 elements; float32.
            codes: Written to. The 8-bit floats; codes.view(torch.float8_e4m3fn) shows those of e4m3 as PyTorch's
                type. Shape: that of the input; uint8.
            format: e4m3: largest value 448, no infinity ("e4m3fn"); e5m2: largest value 57344. "e4m3" or "e5m2".

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Micikevicius et al., "FP8 Formats for Deep Learning" (arXiv:2209.05433); the choices of a recipe are named
                as in NVIDIA's Transformer Engine. The products are cuBLASLt's.
        """

    def fp8_quantize_both_current(
        self,
        input: Tensor,
        scale: Tensor,
        scratch: Tensor,
        codes: Tensor,
        codes_t: Tensor,
        format: Literal["e4m3", "e5m2"],
        /,
    ) -> None:
        """Quantises as fp8_quantize_both does, with the scale that makes the matrix's largest finite magnitude the
        format's largest value.

        Args:
            input: The values. Shape [R, C]; float32 or float16 or bfloat16.
            scale: Written to. The scale of these values; of none it is 1. Shape: 1 element; float32.
            scratch: Written to. Overwritten. Shape: 1024 elements; float32.
            codes: Written to. The 8-bit floats. Shape [R, C]; uint8.
            codes_t: Written to. The same, transposed. Shape [C, R]; uint8.
            format: e4m3: largest value 448, no infinity ("e4m3fn"); e5m2: largest value 57344. "e4m3" or "e5m2".

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Micikevicius et al., "FP8 Formats for Deep Learning" (arXiv:2209.05433); the choices of a recipe are named
                as in NVIDIA's Transformer Engine. The products are cuBLASLt's.
        """

    def fp8_scale_update(self, history: Tensor, scales: Tensor, largest: Sequence[int], margin: int = 0, /) -> None:
        """Sets the scales by the largest magnitudes of the last steps and begins the next step's (delayed scaling).

        Args:
            history: Written to. Largest magnitudes of Q tensors in L steps, 1 to 1024 of 1 to 8. Row 0 is this
                step's: the quantisations raise it, the update moves it on and leaves zeros. Shape [L, Q]; float32.
            scales: Written to. One for each of the Q tensors; stays where its history is 0. Shape [Q]; float32.
            largest: The largest value of each tensor's format: 448 or 57344. Numbers above 0; such as [448].
            margin: Scales are 2^margin times what the history asks for. An integer between -64 and 64.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be; the history has more than 1024 rows or 8 columns, or none, or
                largest is not of its columns.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Micikevicius et al., "FP8 Formats for Deep Learning" (arXiv:2209.05433); the choices of a recipe are named
                as in NVIDIA's Transformer Engine. The products are cuBLASLt's.
        """

    def fp8_transpose(self, codes: Tensor, codes_t: Tensor, /) -> None:
        """Transposes a matrix of codes.

        Args:
            codes: The 8-bit floats. Shape [R, C]; uint8.
            codes_t: Written to. The same, transposed. Shape [C, R]; uint8.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Micikevicius et al., "FP8 Formats for Deep Learning" (arXiv:2209.05433); the choices of a recipe are named
                as in NVIDIA's Transformer Engine. The products are cuBLASLt's.
        """

    def fp8_linear_matmul(
        self,
        a: Tensor,
        b: Tensor,
        a_scale: Tensor,
        b_scale: Tensor,
        bias: Tensor | None,
        out: Tensor,
        workspace: Tensor,
        a_format: Literal["e4m3", "e5m2"] = "e4m3",
        b_format: Literal["e4m3", "e5m2"] = "e4m3",
        use_split_accumulator: bool = False,
        /,
    ) -> None:
        """Multiplies 8-bit floats, out = (a_scale a) (b_scale b)ᵀ + bias, as a linear layer does.

        Args:
            a: Codes of the left factor. Shape [M, K]; uint8.
            b: Codes of the right factor, as a linear layer has its weight. Shape [N, K]; uint8.
            a_scale: Of a. Shape: 1 element; float32.
            b_scale: Of b. Shape: 1 element; float32.
            bias: Added to each row; of out's dtype, bfloat16 where that is float32. Shape [N]; float16 or bfloat16.
            out: Written to. The product. Shape [M, N]; float32 or float16 or bfloat16.
            workspace: Written to. Overwritten. Shape: at least fp8_linear_workspace(a, b) bytes; uint8.
            a_format: Of a. "e4m3" or "e5m2".
            b_format: Of b; e4m3 where a's is e5m2. "e4m3" or "e5m2".
            use_split_accumulator: True: partial sums are added up in float32 (fast accumulation is off), slower and
                more exact.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be; K is 0, both formats are e5m2, or a tensor does not begin at a
                multiple of 16 bytes or workspace of 256.
            RuntimeError: The launch failed, or the library has no code for the GPU; cuBLASLt is not there (the
                message names its packages), or it refuses the product.

        Source:
            Micikevicius et al., "FP8 Formats for Deep Learning" (arXiv:2209.05433); the choices of a recipe are named
                as in NVIDIA's Transformer Engine. The products are cuBLASLt's.
        """

    def fp8_linear_workspace(self, a: Tensor, b: Tensor, /) -> int:
        """Tells how many bytes of workspace fp8_linear_matmul takes for such a and b.

        Args:
            a: Its shape is looked at, and nothing else. Shape [M, K]; any dtype.
            b: Its shape is looked at, and nothing else. Shape [N, K]; any dtype.

        Returns:
            A number of bytes.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here.
            ValueError: A or b has not 2 dimensions, K is 0, or they do not go together.

        Source:
            Micikevicius et al., "FP8 Formats for Deep Learning" (arXiv:2209.05433); the choices of a recipe are named
                as in NVIDIA's Transformer Engine. The products are cuBLASLt's.
        """

    def fp8_linear_cublaslt(self, /) -> str:
        """Tells which cuBLASLt this process uses.

        Returns:
            Its version and its file: "130101 /usr/lib/libcublasLt.so.13".

        Raises:
            TypeError: An argument is given.
            RuntimeError: There is none; the message names the packages that have it.

        Source:
            Micikevicius et al., "FP8 Formats for Deep Learning" (arXiv:2209.05433); the choices of a recipe are named
                as in NVIDIA's Transformer Engine. The products are cuBLASLt's.
        """

class FpQuantizer(Protocol):
    """Grouped fp8 quantisation (e4m3, e5m2) and its inverse."""

    def fp_quantize(
        self,
        input: Tensor,
        output: Tensor,
        scales: Tensor,
        group_size: int,
        format: Literal["e4m3", "e5m2"],
        /,
    ) -> None:
        """Quantises groups of neighbouring elements to 8-bit floats with one scale each.

        Args:
            input: The values. Shape: any; float32 or float16 or bfloat16.
            output: Written to. The 8-bit floats; codes.view(torch.float8_e4m3fn) shows those of e4m3 as PyTorch's
                type. Shape: that of the values; uint8.
            scales: Written to. One for each group: a value is its code times it. Shape: ceil(elements / group_size)
                elements; float32.
            group_size: Groups run over the flattened tensor; the last one may be shorter. In elements; a multiple of
                8 between 8 and 8192; such as 64.
            format: e4m3: largest value 448, no infinity ("e4m3fn"); e5m2: largest value 57344. "e4m3" or "e5m2".

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Micikevicius et al., "FP8 Formats for Deep Learning" (arXiv:2209.05433), with one scale for each group.
                The op is named as DeepSpeed's; its arguments and codes are this project's own.
        """

    def fp_dequantize(
        self,
        input: Tensor,
        scales: Tensor,
        output: Tensor,
        group_size: int,
        format: Literal["e4m3", "e5m2"],
        /,
    ) -> None:
        """Makes values of the codes and scales of fp_quantize; every code is taken, e5m2's infinities too.

        Args:
            input: The 8-bit floats; codes.view(torch.float8_e4m3fn) shows those of e4m3 as PyTorch's type. Shape:
                that of the values; uint8.
            scales: One for each group: a value is its code times it. Shape: ceil(elements / group_size) elements;
                float32.
            output: Written to. The values. Shape: any; float32 or float16 or bfloat16.
            group_size: Groups run over the flattened tensor; the last one may be shorter. In elements; a multiple of
                8 between 8 and 8192; such as 64.
            format: e4m3: largest value 448, no infinity ("e4m3fn"); e5m2: largest value 57344. "e4m3" or "e5m2".

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Micikevicius et al., "FP8 Formats for Deep Learning" (arXiv:2209.05433), with one scale for each group.
                The op is named as DeepSpeed's; its arguments and codes are this project's own.
        """

class FusedAdam(Protocol):
    """Adam and AdamW over many tensors in one launch."""

    def fused_adam_step(
        self,
        params: Sequence[Tensor],
        grads: Sequence[Tensor],
        exp_avgs: Sequence[Tensor],
        exp_avg_sqs: Sequence[Tensor],
        lr: float | Tensor,
        beta1: float,
        beta2: float,
        eps: float,
        step: int | Tensor,
        adam_w_mode: bool,
        bias_correction: bool,
        weight_decay: float,
        grad_scale: float = 1.0,
        /,
    ) -> None:
        """Takes one step of Adam or AdamW over lists of tensors, in place.

        Args:
            params: Written to. The parameters, all of one dtype. Shape: any, one for each tensor; float32 or float16
                or bfloat16.
            grads: The gradients, all of one dtype; that of params, or float16 or bfloat16 under float32 parameters.
                Shape: those of params; float32 or float16 or bfloat16.
            exp_avgs: Written to. First moments; zeros before the first step. Shape: those of params; float32.
            exp_avg_sqs: Written to. Second moments; zeros before the first step. Shape: those of params; float32.
            lr: Learning rate. Of a tensor on a GPU the value is not checked. A finite number; such as 0.001.
            beta1: Decay of the first moments per step. A number in [0, 1); such as 0.9.
            beta2: Decay of the second moments per step. A number in [0, 1); such as 0.999.
            eps: Added to the root of the second moment. A finite number >= 0; such as 1e-08.
            step: Number of the step; the first one is 1. Of a tensor on a GPU the value is not checked. 1 or more;
                such as 1.
            adam_w_mode: True: weight decay apart from the gradient (AdamW); False: added to the gradient (L2).
            bias_correction: False: both corrections of the moments are 1.
            weight_decay: Weight decay; 0.0 is none. A finite number; such as 0.01.
            grad_scale: Gradients are multiplied by it; one over the loss scale. A finite number.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here; a list has tensors of several dtypes.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be; the lists are not of the same length.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Kingma and Ba, "Adam: A Method for Stochastic Optimization" (arXiv:1412.6980); adam_w_mode: Loshchilov and
                Hutter, "Decoupled Weight Decay Regularization" (arXiv:1711.05101). The options are named as in
                DeepSpeed's FusedAdam.
        """

class FusedLamb(Protocol):
    """LAMB over many tensors in few launches."""

    def fused_lamb_step(
        self,
        params: Sequence[Tensor],
        grads: Sequence[Tensor],
        exp_avgs: Sequence[Tensor],
        exp_avg_sqs: Sequence[Tensor],
        scratch: Tensor,
        lr: float | Tensor,
        beta1: float,
        beta2: float,
        eps: float,
        step: int | Tensor,
        eps_inside_sqrt: bool,
        bias_correction: bool,
        weight_decay: float,
        min_coeff: float,
        max_coeff: float,
        grad_scale: float = 1.0,
        /,
    ) -> None:
        """Takes one step of LAMB over lists of tensors, in place. Every run gives the same bits.

        Args:
            params: Written to. The parameters, all of one dtype. Shape: any, one for each tensor; float32 or float16
                or bfloat16.
            grads: The gradients, all of one dtype; that of params, or float16 or bfloat16 under float32 parameters.
                Shape: those of params; float32 or float16 or bfloat16.
            exp_avgs: Written to. First moments; zeros before the first step. Shape: those of params; float32.
            exp_avg_sqs: Written to. Second moments; zeros before the first step. Shape: those of params; float32.
            scratch: Written to. Overwritten. Shape: at least fused_lamb_scratch(params) elements; float32.
            lr: Learning rate. Of a tensor on a GPU the value is not checked. A finite number; such as 0.001.
            beta1: Decay of the first moments per step. A number in [0, 1); such as 0.9.
            beta2: Decay of the second moments per step. A number in [0, 1); such as 0.999.
            eps: Added to the root of the second moment, or below the root to the second moment. A finite number >= 0;
                such as 1e-08.
            step: Number of the step; the first one is 1. Of a tensor on a GPU the value is not checked. 1 or more;
                such as 1.
            eps_inside_sqrt: True: eps is added below the root.
            bias_correction: False: both corrections of the learning rate are 1.
            weight_decay: Weight decay, a part of the update that the trust ratio is worked out of; 0.0 is none. A
                finite number; such as 0.01.
            min_coeff: The smallest trust ratio. A finite number >= 0; such as 0.01.
            max_coeff: The largest trust ratio. A finite number >= 0; such as 10.0.
            grad_scale: Gradients are multiplied by it; one over the loss scale. A finite number.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here; a list has tensors of several dtypes.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be; the lists are not of the same length, or max_coeff is below
                min_coeff.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            You et al., "Large Batch Optimization for Deep Learning: Training BERT in 76 minutes" (arXiv:1904.00962),
                with the bias corrections in the learning rate and bounds of the trust ratio as in DeepSpeed's
                FusedLamb, whose options these are.
        """

    def fused_lamb_scratch(self, params: Sequence[Tensor], /) -> int:
        """Tells how many float32 elements scratch must have for a step over such parameters.

        Args:
            params: Their shapes are looked at, and nothing else. Shape: any; any dtype.

        Returns:
            A number of elements.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here.

        Source:
            You et al., "Large Batch Optimization for Deep Learning: Training BERT in 76 minutes" (arXiv:1904.00962),
                with the bias corrections in the learning rate and bounds of the trust ratio as in DeepSpeed's
                FusedLamb, whose options these are.
        """

class FusedLion(Protocol):
    """Lion over many tensors in one launch."""

    def fused_lion_step(
        self,
        params: Sequence[Tensor],
        grads: Sequence[Tensor],
        exp_avgs: Sequence[Tensor],
        lr: float | Tensor,
        beta1: float,
        beta2: float,
        weight_decay: float,
        grad_scale: float = 1.0,
        /,
    ) -> None:
        """Takes one step of Lion over lists of tensors, in place.

        Args:
            params: Written to. The parameters, all of one dtype. Shape: any, one for each tensor; float32 or float16
                or bfloat16.
            grads: The gradients, all of one dtype; that of params, or float16 or bfloat16 under float32 parameters.
                Shape: those of params; float32 or float16 or bfloat16.
            exp_avgs: Written to. Moments; zeros before the first step. Shape: those of params; float32.
            lr: Learning rate. Of a tensor on a GPU the value is not checked. A finite number; such as 0.001.
            beta1: Share of the moment in the direction of the step. A number in [0, 1); such as 0.9.
            beta2: Decay of the moments per step. A number in [0, 1); such as 0.99.
            weight_decay: Weight decay, apart from the gradient; 0.0 is none. A finite number; such as 0.01.
            grad_scale: Gradients are multiplied by it; one over the loss scale. A finite number.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here; a list has tensors of several dtypes.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be; the lists are not of the same length.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Chen et al., "Symbolic Discovery of Optimization Algorithms" (arXiv:2302.06675). The options are named as
                in DeepSpeed's FusedLion, which moves a parameter whose direction is 0 by lr; here, as in the paper,
                it is not moved.
        """

class LayerNorm(Protocol):
    """Normalisation of rows by their mean and variance, forward and backward."""

    def layer_norm_forward(
        self,
        input: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        out: Tensor,
        mean: Tensor,
        rstd: Tensor,
        eps: float,
        /,
    ) -> None:
        """Takes the mean from each row and divides it by its standard deviation, then multiplies each column by its
        weight and adds its bias.

        Args:
            input: The rows. * is any number of dimensions, also none; hidden is 1 or more. Shape [*, hidden]; float32
                or float16 or bfloat16.
            weight: A factor for each column, of input's dtype or float32; None for ones. Shape [hidden]; float32 or
                float16 or bfloat16.
            bias: A summand for each column, of input's dtype or float32 (whatever weight's is); None for zeros. Shape
                [hidden]; float32 or float16 or bfloat16.
            out: Written to. The result; of input's dtype. Shape: that of input; float32 or float16 or bfloat16.
            mean: Written to. The mean of each row: the forward pass writes it for the backward pass. Shape [*];
                float32.
            rstd: Written to. The factor of each row: the forward pass writes it for the backward pass. Shape [*];
                float32.
            eps: Added to the variance. A finite number >= 0; such as 1e-05.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be; the last dimension of input has no element, or over 2^30.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Ba, Kiros and Hinton, "Layer Normalization" (arXiv:1607.06450), with eps within the root as PyTorch's
                layer_norm has it.
        """

    def layer_norm_backward(
        self,
        grad_out: Tensor,
        input: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        mean: Tensor,
        rstd: Tensor,
        grad_input: Tensor,
        grad_weight: Tensor | None,
        grad_bias: Tensor | None,
        scratch: Tensor,
        /,
    ) -> None:
        """Computes the gradients of layer_norm_forward. Of bias the dtype is looked at, and nothing else. Every run
        gives the same bits.

        Args:
            grad_out: Gradient of out; of input's dtype. Shape: that of input; float32 or float16 or bfloat16.
            input: The rows. * is any number of dimensions, also none; hidden is 1 or more. Shape [*, hidden]; float32
                or float16 or bfloat16.
            weight: A factor for each column, of input's dtype or float32; None for ones. Shape [hidden]; float32 or
                float16 or bfloat16.
            bias: A summand for each column, of input's dtype or float32 (whatever weight's is); None for zeros. Shape
                [hidden]; float32 or float16 or bfloat16.
            mean: The mean of each row: the forward pass writes it for the backward pass. Shape [*]; float32.
            rstd: The factor of each row: the forward pass writes it for the backward pass. Shape [*]; float32.
            grad_input: Written to. Gradient of input, of its dtype; written, not added to. Shape: that of input;
                float32 or float16 or bfloat16.
            grad_weight: Written to. Gradient of weight, of its dtype; written, not added to. None where it is not
                wanted, or weight is None. Shape [hidden]; float32 or float16 or bfloat16.
            grad_bias: Written to. Gradient of bias, of its dtype; written, not added to. None where it is not wanted,
                or bias is None. Shape [hidden]; float32 or float16 or bfloat16.
            scratch: Written to. Overwritten. Any size will do where no gradient but that of input is wanted. Shape:
                as many elements as the op's scratch function says; float32.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; the last dimension of input has no element, or over 2^30; or there is a grad_weight and no
                weight, or a grad_bias and no bias.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Ba, Kiros and Hinton, "Layer Normalization" (arXiv:1607.06450), with eps within the root as PyTorch's
                layer_norm has it.
        """

    def layer_norm_scratch(self, input: Tensor, /) -> int:
        """Tells how many float32 elements scratch must have for such an input on its GPU.

        Args:
            input: The rows. * is any number of dimensions, also none; hidden is 1 or more. Shape [*, hidden]; float32
                or float16 or bfloat16.

        Returns:
            A number of elements.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; the last dimension of input has no element, or over 2^30.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Ba, Kiros and Hinton, "Layer Normalization" (arXiv:1607.06450), with eps within the root as PyTorch's
                layer_norm has it.
        """

class PinMemory(Protocol):
    """Page-locked host memory without CUDA."""

    def pin_memory_allocate(self, shape: Sequence[int], dtype: Dtype, /) -> Tensor:
        """Makes a tensor in page-locked memory, which takes whole pages and begins at one.

        Args:
            shape: Of the tensor. In elements; sizes of 0 or more; such as [4].
            dtype: Of the tensor: a name, or a dtype of tvm-ffi, NumPy or PyTorch. Such as "float16".

        Returns:
            Zeros, on the CPU; numpy.from_dlpack and torch.from_dlpack share its memory.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here.
            ValueError: A value is not what it must be; the name is that of no dtype, or there are too many elements
                to count their bits.
            RuntimeError: The system does not lock so much; the message says its limit and how to raise it.

        Source:
            mlock(2) over whole pages of mmap(2). The op is named as DeepSpeed's; the memory is not registered with
                CUDA.
        """

    def pin_memory_unlock(self, tensor: Tensor, /) -> None:
        """Unlocks the pages of a tensor at once, before it is gone; it can be used on.

        Args:
            tensor: A tensor of pin_memory_allocate. Shape: any; any dtype.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here.
            ValueError: They are not locked.

        Source:
            mlock(2) over whole pages of mmap(2). The op is named as DeepSpeed's; the memory is not registered with
                CUDA.
        """

    def pin_memory_is_pinned(self, tensor: Tensor, /) -> bool:
        """Tells whether all of a tensor lies in pages that pin_memory_allocate has locked.

        Args:
            tensor: A tensor, or a view of one. Shape: any; any dtype.

        Returns:
            Whether it does.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here.
            ValueError: The tensor is not contiguous.

        Source:
            mlock(2) over whole pages of mmap(2). The op is named as DeepSpeed's; the memory is not registered with
                CUDA.
        """

    def pin_memory_locked_bytes(self, /) -> int:
        """Counts the pages that are locked now.

        Returns:
            Bytes of all of them.

        Raises:
            TypeError: An argument is given.

        Source:
            mlock(2) over whole pages of mmap(2). The op is named as DeepSpeed's; the memory is not registered with
                CUDA.
        """

class Quantizer(Protocol):
    """Grouped int8 and int4 quantisation, symmetric and asymmetric, and its inverse."""

    def quantize_symmetric(
        self,
        input: Tensor,
        output: Tensor,
        scales: Tensor,
        group_size: int,
        bits: Literal[8, 4],
        /,
    ) -> None:
        """Quantises groups of neighbouring elements to integers around 0 with one scale each.

        Args:
            input: The values. Shape: any; float32 or float16 or bfloat16.
            output: Written to. int8 of 8 bits, uint8 of 4 bits: two codes in a byte, the first one in its lower half,
                in two's complement; half a byte left over is 0. Shape: that of the values; of 4 bits, ceil(elements /
                2) elements; int8 or uint8.
            scales: Written to. One for each group: a value is its code times it (plus the offset). Shape:
                ceil(elements / group_size) elements; float32.
            group_size: Groups run over the flattened tensor; the last one may be shorter. In elements; a multiple of
                8 between 8 and 8192; such as 64.
            bits: Of a code. 8 or 4.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Group-wise quantisation as in Yao et al., "ZeroQuant" (arXiv:2206.01861). The op is named as DeepSpeed's;
                its arguments and codes are this project's own (float offsets in place of integer zero points).
        """

    def quantize_asymmetric(
        self,
        input: Tensor,
        output: Tensor,
        scales: Tensor,
        offsets: Tensor,
        group_size: int,
        bits: Literal[8, 4],
        /,
    ) -> None:
        """Quantises groups of neighbouring elements to integers from 0 on with one scale and one offset each.

        Args:
            input: The values. Shape: any; float32 or float16 or bfloat16.
            output: Written to. Of 4 bits two codes in a byte, the first one in its lower half; half a byte left over
                is 0. Shape: that of the values; of 4 bits, ceil(elements / 2) elements; uint8.
            scales: Written to. One for each group: a value is its code times it (plus the offset). Shape:
                ceil(elements / group_size) elements; float32.
            offsets: Written to. One for each group: its smallest value. Shape: ceil(elements / group_size) elements;
                float32.
            group_size: Groups run over the flattened tensor; the last one may be shorter. In elements; a multiple of
                8 between 8 and 8192; such as 64.
            bits: Of a code. 8 or 4.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Group-wise quantisation as in Yao et al., "ZeroQuant" (arXiv:2206.01861). The op is named as DeepSpeed's;
                its arguments and codes are this project's own (float offsets in place of integer zero points).
        """

    def dequantize_symmetric(
        self,
        input: Tensor,
        scales: Tensor,
        output: Tensor,
        group_size: int,
        bits: Literal[8, 4],
        /,
    ) -> None:
        """Makes values of the codes and scales of quantize_symmetric.

        Args:
            input: int8 of 8 bits, uint8 of 4 bits: two codes in a byte, the first one in its lower half, in two's
                complement; half a byte left over is 0. Shape: that of the values; of 4 bits, ceil(elements / 2)
                elements; int8 or uint8.
            scales: One for each group: a value is its code times it (plus the offset). Shape: ceil(elements /
                group_size) elements; float32.
            output: Written to. The values. Shape: any; float32 or float16 or bfloat16.
            group_size: Groups run over the flattened tensor; the last one may be shorter. In elements; a multiple of
                8 between 8 and 8192; such as 64.
            bits: Of a code. 8 or 4.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Group-wise quantisation as in Yao et al., "ZeroQuant" (arXiv:2206.01861). The op is named as DeepSpeed's;
                its arguments and codes are this project's own (float offsets in place of integer zero points).
        """

    def dequantize_asymmetric(
        self,
        input: Tensor,
        scales: Tensor,
        offsets: Tensor,
        output: Tensor,
        group_size: int,
        bits: Literal[8, 4],
        /,
    ) -> None:
        """Makes values of the codes, scales and offsets of quantize_asymmetric.

        Args:
            input: Of 4 bits two codes in a byte, the first one in its lower half; half a byte left over is 0. Shape:
                that of the values; of 4 bits, ceil(elements / 2) elements; uint8.
            scales: One for each group: a value is its code times it (plus the offset). Shape: ceil(elements /
                group_size) elements; float32.
            offsets: One for each group: its smallest value. Shape: ceil(elements / group_size) elements; float32.
            output: Written to. The values. Shape: any; float32 or float16 or bfloat16.
            group_size: Groups run over the flattened tensor; the last one may be shorter. In elements; a multiple of
                8 between 8 and 8192; such as 64.
            bits: Of a code. 8 or 4.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Group-wise quantisation as in Yao et al., "ZeroQuant" (arXiv:2206.01861). The op is named as DeepSpeed's;
                its arguments and codes are this project's own (float offsets in place of integer zero points).
        """

class RmsNorm(Protocol):
    """Normalisation of rows by their root mean square, forward and backward."""

    def rms_norm_forward(
        self,
        input: Tensor,
        weight: Tensor | None,
        out: Tensor,
        rstd: Tensor,
        eps: float,
        /,
    ) -> None:
        """Divides each row by its root mean square, then multiplies each column by its weight.

        Args:
            input: The rows. * is any number of dimensions, also none; hidden is 1 or more. Shape [*, hidden]; float32
                or float16 or bfloat16.
            weight: A factor for each column, of input's dtype or float32; None for ones. Shape [hidden]; float32 or
                float16 or bfloat16.
            out: Written to. The result; of input's dtype. Shape: that of input; float32 or float16 or bfloat16.
            rstd: Written to. The factor of each row: the forward pass writes it for the backward pass. Shape [*];
                float32.
            eps: Added to the mean square. A finite number >= 0; such as 1e-06.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; a value is not what it must be; the last dimension of input has no element, or over 2^30.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Zhang and Sennrich, "Root Mean Square Layer Normalization" (arXiv:1910.07467), with eps within the root as
                PyTorch's rms_norm has it.
        """

    def rms_norm_backward(
        self,
        grad_out: Tensor,
        input: Tensor,
        weight: Tensor | None,
        rstd: Tensor,
        grad_input: Tensor,
        grad_weight: Tensor | None,
        scratch: Tensor,
        /,
    ) -> None:
        """Computes the gradients of rms_norm_forward. Every run gives the same bits.

        Args:
            grad_out: Gradient of out; of input's dtype. Shape: that of input; float32 or float16 or bfloat16.
            input: The rows. * is any number of dimensions, also none; hidden is 1 or more. Shape [*, hidden]; float32
                or float16 or bfloat16.
            weight: A factor for each column, of input's dtype or float32; None for ones. Shape [hidden]; float32 or
                float16 or bfloat16.
            rstd: The factor of each row: the forward pass writes it for the backward pass. Shape [*]; float32.
            grad_input: Written to. Gradient of input, of its dtype; written, not added to. Shape: that of input;
                float32 or float16 or bfloat16.
            grad_weight: Written to. Gradient of weight, of its dtype; written, not added to. None where it is not
                wanted, or weight is None. Shape [hidden]; float32 or float16 or bfloat16.
            scratch: Written to. Overwritten. Any size will do where no gradient but that of input is wanted. Shape:
                as many elements as the op's scratch function says; float32.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; the last dimension of input has no element, or over 2^30; or there is a grad_weight and no
                weight.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Zhang and Sennrich, "Root Mean Square Layer Normalization" (arXiv:1910.07467), with eps within the root as
                PyTorch's rms_norm has it.
        """

    def rms_norm_scratch(self, input: Tensor, /) -> int:
        """Tells how many float32 elements scratch must have for such an input on its GPU.

        Args:
            input: The rows. * is any number of dimensions, also none; hidden is 1 or more. Shape [*, hidden]; float32
                or float16 or bfloat16.

        Returns:
            A number of elements.

        Raises:
            TypeError: An argument is missing, one too many, or of another type than here; a tensor has another dtype
                than here.
            ValueError: A tensor is not on a GPU, on one with the others, not contiguous, or of another shape than
                here; the last dimension of input has no element, or over 2^30.
            RuntimeError: The launch failed, or the library has no code for the GPU.

        Source:
            Zhang and Sennrich, "Root Mean Square Layer Normalization" (arXiv:1910.07467), with eps within the root as
                PyTorch's rms_norm has it.
        """

@overload
def load(
    name: Literal["async_io"], pack: Literal["native"] = "native", path: str | os.PathLike[str] | None = None
) -> AsyncIo: ...
@overload
def load(
    name: Literal["cpu_adagrad"], pack: Literal["native"] = "native", path: str | os.PathLike[str] | None = None
) -> CpuAdagrad: ...
@overload
def load(
    name: Literal["cpu_adam"], pack: Literal["native"] = "native", path: str | os.PathLike[str] | None = None
) -> CpuAdam: ...
@overload
def load(
    name: Literal["cpu_lion"], pack: Literal["native"] = "native", path: str | os.PathLike[str] | None = None
) -> CpuLion: ...
@overload
def load(
    name: Literal["evoformer_attn"], pack: Literal["native"] = "native", path: str | os.PathLike[str] | None = None
) -> EvoformerAttn: ...
@overload
def load(
    name: Literal["fp8_linear"], pack: Literal["native"] = "native", path: str | os.PathLike[str] | None = None
) -> Fp8Linear: ...
@overload
def load(
    name: Literal["fp_quantizer"], pack: Literal["native"] = "native", path: str | os.PathLike[str] | None = None
) -> FpQuantizer: ...
@overload
def load(
    name: Literal["fused_adam"], pack: Literal["native"] = "native", path: str | os.PathLike[str] | None = None
) -> FusedAdam: ...
@overload
def load(
    name: Literal["fused_lamb"], pack: Literal["native"] = "native", path: str | os.PathLike[str] | None = None
) -> FusedLamb: ...
@overload
def load(
    name: Literal["fused_lion"], pack: Literal["native"] = "native", path: str | os.PathLike[str] | None = None
) -> FusedLion: ...
@overload
def load(
    name: Literal["layer_norm"], pack: Literal["native"] = "native", path: str | os.PathLike[str] | None = None
) -> LayerNorm: ...
@overload
def load(
    name: Literal["pin_memory"], pack: Literal["native"] = "native", path: str | os.PathLike[str] | None = None
) -> PinMemory: ...
@overload
def load(
    name: Literal["quantizer"], pack: Literal["native"] = "native", path: str | os.PathLike[str] | None = None
) -> Quantizer: ...
@overload
def load(
    name: Literal["rms_norm"], pack: Literal["native"] = "native", path: str | os.PathLike[str] | None = None
) -> RmsNorm: ...
@overload
def load(
    name: str, pack: str = "native", path: str | os.PathLike[str] | None = None
) -> types.ModuleType | Any: ...
