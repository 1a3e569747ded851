"""The ops of DeepSpeed 0.19.8, read from its builders by hand."""

# Module, sources, those of them that are .cu, archs of 7.5;8.0+PTX.
BOTH, AMPERE = ["7.5", "8.0+PTX"], ["8.0+PTX"]
OPS = {
    "async_io": ("deepspeed.ops.aio.async_io_op", 12, 0, []),
    "cpu_adagrad": ("deepspeed.ops.adagrad.cpu_adagrad_op", 1, 0, []),
    "cpu_adam": ("deepspeed.ops.adam.cpu_adam_op", 2, 0, []),
    "cpu_lion": ("deepspeed.ops.lion.cpu_lion_op", 2, 0, []),
    "cutlass_ops": ("deepspeed.inference.v2.kernels.cutlass_ops.cutlass_ops", 3, 2, AMPERE),
    "dc": ("deepspeed.ops.dc_op", 6, 0, []),
    "evoformer_attn": ("deepspeed.ops.evoformer_attn_op", 3, 2, BOTH),
    "fp_quantizer": ("deepspeed.ops.fp_quantizer.fp_quantizer_op", 2, 1, AMPERE),
    "fused_adam": ("deepspeed.ops.adam.fused_adam_op", 2, 1, BOTH),
    "fused_lamb": ("deepspeed.ops.lamb.fused_lamb_op", 2, 1, BOTH),
    "fused_lion": ("deepspeed.ops.lion.fused_lion_op", 2, 1, BOTH),
    "gds": ("deepspeed.ops.gds.gds_op", 14, 0, []),
    "inference_core_ops": ("deepspeed.inference.v2.kernelsinference_core_ops", 11, 5, BOTH),
    "pin_memory": ("deepspeed.ops.pin_memory.pin_memory_op", 3, 0, []),
    "quantizer": ("deepspeed.ops.quantizer.quantizer_op", 6, 5, BOTH),
    "ragged_device_ops": ("deepspeed.inference.v2.kernels.ragged_ops.ragged_device_ops", 16, 6, AMPERE),
    "ragged_ops": ("deepspeed.inference.v2.ragged_ops", 2, 1, BOTH),
    "random_ltd": ("deepspeed.ops.random_ltd_op", 4, 3, BOTH),
    "spatial_inference": ("deepspeed.ops.spatial.spatial_inference_op", 2, 1, BOTH),
    "stochastic_transformer": ("deepspeed.ops.transformer.stochastic_transformer_op", 8, 7, BOTH),
    "transformer": ("deepspeed.ops.transformer.transformer_op", 8, 7, BOTH),
    "transformer_inference": ("deepspeed.ops.transformer.inference.transformer_inference_op", 10, 9, BOTH),
    "utils": ("deepspeed.ops.utils_op", 2, 0, []),
}
