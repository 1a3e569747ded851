// Where a SYCL op's binding lets its launch run: a header for both, without SYCL's.
#pragma once

namespace dsbuild::ops {

struct SyclPlace {
  // The caller's sycl::queue, in whose order the work runs. Null: there is none, and the work has ended when
  // the call returns.
  void* queue;
  // As DLPack counts kDLOneAPI devices: an index of sycl::device::get_devices().
  int device;
};

}  // namespace dsbuild::ops
