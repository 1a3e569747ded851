// What SYCL kernels and their launches share. Device code uses nothing but SYCL's own functions and
// conversions written out here, so that it needs no library of a compiler.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <sycl/sycl.hpp>

#include "float_type.h"
#include "late_value.h"
#include "sycl_queue.h"

namespace dsbuild::ops {

using Half = sycl::half;
struct Bfloat16 {
  uint16_t bits;
};

inline float to_float(float value) {
  return value;
}
inline float to_float(Half value) {
  return value;
}
inline float to_float(Bfloat16 value) {
  return sycl::bit_cast<float>(static_cast<uint32_t>(value.bits) << 16);
}

template <class T>
T from_float(float value) {
  return T(value);
}
// To the nearest, ties to even.
template <>
inline Bfloat16 from_float<Bfloat16>(float value) {
  const auto bits = sycl::bit_cast<uint32_t>(value);
  const uint32_t rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  return {static_cast<uint16_t>(value != value ? 0x7fffu : rounded >> 16)};
}

// A `Vector` of one number, for a formula.
struct SyclFloat {
  using Reg = float;
  static Reg all(float x) { return x; }
  static Reg mul(Reg a, Reg b) { return a * b; }
  static Reg div(Reg a, Reg b) { return a / b; }
  static Reg sqrt(Reg a) { return sycl::sqrt(a); }
  static Reg fma(Reg a, Reg b, Reg c) { return sycl::fma(a, b, c); }
  static Reg fused_mul_sub(Reg a, Reg b, Reg c) { return sycl::fma(a, b, -c); }
};

template <class T>
T read_back(sycl::queue& queue, const void* place) {
  T value;
  queue.memcpy(&value, place, sizeof value).wait();
  return value;
}

// Numbers that lie on the device, read by the host: it waits for what was queued before. Many of Intel's GPUs
// have no double, in which coefficients are worked out.
inline LateNumber known(const LateNumber& late, sycl::queue& queue) {
  return late.late() ? LateNumber{read_back<float>(queue, late.place), nullptr} : late;
}

inline LateInteger known(const LateInteger& late, sycl::queue& queue) {
  if (!late.late()) return late;
  // Of the right size, for no more than one element may be read.
  const auto of_host = [&](auto value) {
    return LateInteger{LateInteger{0, &value, late.type}.value(), nullptr, IntegerType::int64};
  };
  if (late.type == IntegerType::int64) return of_host(read_back<int64_t>(queue, late.place));
  if (late.type == IntegerType::int32) return of_host(read_back<int32_t>(queue, late.place));
  return of_host(read_back<float>(queue, late.place));
}

// In the context that memory of this device is of: torch, dpctl and others allocate in its platform's
// default.
inline sycl::queue own_queue(int device) {
  const std::vector<sycl::device> devices = sycl::device::get_devices();
  if (devices.empty()) {
    throw std::runtime_error(
        "no Intel device: SYCL finds none; is there a GPU of Intel's, with its driver for Level Zero or "
        "OpenCL, "
        "and may this user open /dev/dri/renderD*?");
  }
  if (device < 0 || static_cast<size_t>(device) >= devices.size()) {
    throw std::runtime_error("no such device: SYCL sees " + std::to_string(devices.size()) +
                             " on this machine");
  }
  const sycl::device& chosen = devices[static_cast<size_t>(device)];
  return {chosen.get_platform().khr_get_default_context(), chosen, sycl::property::queue::in_order()};
}

// work(queue) on the place's; throws std::runtime_error.
template <class Work>
void on_queue(const SyclPlace& place, const Work& work) {
  try {
    if (place.queue != nullptr) return work(*static_cast<sycl::queue*>(place.queue));
    sycl::queue queue = own_queue(place.device);
    work(queue);
    queue.wait_and_throw();
  } catch (const sycl::exception& error) {
    const bool no_code =
        error.code() == sycl::errc::kernel_not_supported || error.code() == sycl::errc::build;
    throw std::runtime_error(
        std::string(error.what()) +
        (no_code ? "; this library has no code for the device: build it with --arch spir64" : ""));
  }
}

// run(Param{}, Grad{}) for types that step_supports.
template <class Run>
void run_typed(FloatType param, FloatType grad, const Run& run) {
  if (param == FloatType::float16) return run(Half{}, Half{});
  if (param == FloatType::bfloat16) return run(Bfloat16{}, Bfloat16{});
  if (grad == FloatType::float16) return run(float{}, Half{});
  if (grad == FloatType::bfloat16) return run(float{}, Bfloat16{});
  return run(float{}, float{});
}

}  // namespace dsbuild::ops
