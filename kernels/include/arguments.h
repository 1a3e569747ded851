// The arguments of an op's function, read in order and by name, so that every error names its argument:
// "fused_adam_step: lr: expected a number, got str". Python sees TypeError and ValueError.
#pragma once

#include <tvm/ffi/container/array.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>
#include <tvm/ffi/string.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dsbuild::ops {

// As Python calls it.
inline std::string type_name(const tvm::ffi::AnyView& value) {
  const std::string key = value.GetTypeKey();
  return key == "ffi.SmallStr" || key == "ffi.String" ? "str" : key;
}

// A tensor argument; `where` starts its error messages: "fused_adam_step: grads[3]".
struct TensorArgument {
  tvm::ffi::TensorView view;
  std::string where;
};

// A value, or the tensor that holds it.
template <class T>
struct ValueOrTensor {
  T value;
  std::optional<TensorArgument> tensor;
};

class Arguments {
 public:
  Arguments(const char* function, const TVMFFIAny* values, int32_t count)
      : function_(function), values_(reinterpret_cast<const tvm::ffi::AnyView*>(values)), count_(count) {}

  double number(const char* name) { return read<double>(name, "a number"); }
  double number_or(const char* name, double fallback) { return next_ < count_ ? number(name) : fallback; }
  ValueOrTensor<double> number_or_tensor(const char* name) {
    return value_or_tensor<double>(name, "a number or a tensor");
  }
  int64_t integer(const char* name) { return read<int64_t>(name, "an integer"); }
  int64_t integer_or(const char* name, int64_t fallback) { return next_ < count_ ? integer(name) : fallback; }
  ValueOrTensor<int64_t> integer_or_tensor(const char* name) {
    return value_or_tensor<int64_t>(name, "an integer or a tensor");
  }
  bool flag(const char* name) { return read<bool>(name, "a bool"); }
  bool flag_or(const char* name, bool fallback) { return next_ < count_ ? flag(name) : fallback; }
  std::string text(const char* name) { return read<tvm::ffi::String>(name, "a string"); }
  DLDataType dtype(const char* name) {
    try {
      return read<DLDataType>(name, "a dtype");
    } catch (const tvm::ffi::Error& error) {
      if (error.kind() != "ValueError") throw;
      TVM_FFI_THROW(ValueError) << where(name) << ": " << error.message();
    }
    TVM_FFI_UNREACHABLE();
  }
  std::string text_or(const char* name, const char* fallback) {
    return next_ < count_ ? text(name) : fallback;
  }
  TensorArgument tensor(const char* name) {
    return {read<tvm::ffi::TensorView>(name, "a tensor"), where(name)};
  }
  std::vector<int64_t> integers(const char* name) {
    std::vector<int64_t> list;
    for (auto& item : items<int64_t>(name, "an integer"))
      list.push_back(item.value);
    return list;
  }
  // None is no tensor.
  std::optional<TensorArgument> optional_tensor(const char* name) {
    const auto view = read<tvm::ffi::Optional<tvm::ffi::TensorView>>(name, "a tensor or None");
    if (!view) return std::nullopt;
    return TensorArgument{*view, where(name)};
  }
  std::vector<TensorArgument> tensors(const char* name) {
    std::vector<TensorArgument> list;
    for (auto& item : items<tvm::ffi::TensorView>(name, "a tensor"))
      list.push_back({item.value, std::move(item.where)});
    return list;
  }
  // A reference to an object of an op's own class.
  template <class Reference>
  Reference object(const char* name, const char* expected) {
    return read<Reference>(name, expected);
  }

  // Keeps the memory of the tensor that was read last; null for a tensor that the caller only lends.
  std::optional<tvm::ffi::Tensor> owner_of_last() const {
    return values_[next_ - 1].try_cast<tvm::ffi::Tensor>();
  }

  // To be called when all were read.
  void end() const {
    if (next_ < count_) {
      TVM_FFI_THROW(TypeError) << function_ << ": takes at most " << next_ << " arguments, got " << count_;
    }
  }

  const char* function() const { return function_; }
  std::string where(const char* name) const { return std::string(function_) + ": " + name; }

 private:
  template <class T>
  struct Item {
    T value;
    std::string where;
  };

  template <class T>
  std::vector<Item<T>> items(const char* name, const std::string& expected) {
    const std::string kind = "a list of " + expected.substr(expected.find(' ') + 1) + "s";
    std::vector<Item<T>> list;
    for (const tvm::ffi::Any& item : read<tvm::ffi::Array<tvm::ffi::Any>>(name, kind.c_str())) {
      const std::string item_where = where(name) + "[" + std::to_string(list.size()) + "]";
      const auto value = item.try_cast<T>();
      if (!value) {
        TVM_FFI_THROW(TypeError) << item_where << ": expected " << expected << ", got " << type_name(item);
      }
      list.push_back({*value, item_where});
    }
    return list;
  }

  template <class T>
  T read(const char* name, const char* expected) {
    const tvm::ffi::AnyView& value = next(name);
    const auto cast = value.try_cast<T>();
    if (!cast) refuse(name, expected, value);
    return *cast;
  }

  template <class T>
  ValueOrTensor<T> value_or_tensor(const char* name, const char* expected) {
    const tvm::ffi::AnyView& value = next(name);
    if (const auto plain = value.try_cast<T>()) return {*plain, std::nullopt};
    const auto view = value.try_cast<tvm::ffi::TensorView>();
    if (!view) refuse(name, expected, value);
    return {T{}, TensorArgument{*view, where(name)}};
  }

  const tvm::ffi::AnyView& next(const char* name) {
    if (next_ == count_) TVM_FFI_THROW(TypeError) << where(name) << ": missing argument";
    return values_[next_++];
  }

  [[noreturn]] void refuse(const char* name, const char* expected, const tvm::ffi::AnyView& value) const {
    TVM_FFI_THROW(TypeError) << where(name) << ": expected " << expected << ", got " << type_name(value);
    TVM_FFI_UNREACHABLE();
  }

  const char* function_;
  const tvm::ffi::AnyView* values_;
  int32_t count_;
  int32_t next_ = 0;
};

}  // namespace dsbuild::ops

// Exports `body`, a function of (Arguments&) that returns an Any, as the tvm-ffi function `name`: the symbol
// __tvm_ffi_<name>, as TVM_FFI_DLL_EXPORT_TYPED_FUNC does, which cannot leave out trailing arguments.
#define DSBUILD_EXPORT(name, body)                                                                  \
  extern "C" TVM_FFI_DLL_EXPORT int __tvm_ffi_##name(void*, const TVMFFIAny* values, int32_t count, \
                                                     TVMFFIAny* result) {                           \
    TVM_FFI_SAFE_CALL_BEGIN();                                                                      \
    ::dsbuild::ops::Arguments arguments(#name, values, count);                                      \
    *reinterpret_cast<::tvm::ffi::Any*>(result) = body(arguments);                                  \
    TVM_FFI_SAFE_CALL_END();                                                                        \
  }
