import numpy, tvm_ffi
adam = tvm_ffi.load_module("dsbuild-out/cpu_adam.so")
p, g, m, v = (tvm_ffi.from_dlpack(numpy.full(4, x, "float32")) for x in (1, 0.5, 0, 0))
adam.cpu_adam_step([p], [g], [m], [v], 0.1, 0.9, 0.999, 1e-8, 1, True, True, 0.01)
print(numpy.from_dlpack(p))  # [0.899 0.899 0.899 0.899]
