// Values and tensors to LibTorch's and back, sharing bytes wherever their layout allows. Sees
// LibTorch: for sources of runtime and partitioner/model and their tests only.
#pragma once

#include <torch/script.h>

#include <optional>

#include "core/base/error.h"
#include "core/tensor/value.h"

namespace pareto::runtime {

/// Returns the dtype; none for types whose bytes do not hold all of a tensor (quantised ones).
std::optional<DType> from_scalar_type(c10::ScalarType type);
c10::ScalarType to_scalar_type(DType dtype);

/// Returns a row-major tensor. It shares the bytes of `tensor` if that is row-major, dense and in
/// main memory.
/// Fails: kInvalidArgument (sparse, quantised and meta tensors).
Expected<Tensor> from_torch(const at::Tensor& tensor);
/// Shares the bytes, which stay alive with the result. They are immutable: what writes in place
/// must clone first.
at::Tensor to_torch(const Tensor& tensor);

/// Tensors, numbers, bools, strings, None, uninitialised, lists, tuples and dicts of those. Fails
/// with kInvalidArgument, naming what was met, for all else (devices, objects, futures …). A tensor
/// keeps its MemoryLayout, any other order becomes row-major.
Expected<Value> from_ivalue(const c10::IValue& value);
/// Returns the same, with tensors that have a dtype, a shape and no bytes. Nothing is copied.
Expected<Value> without_bytes(const c10::IValue& value);
/// Converts a value. `type` is what the graph expects there: only it knows the element type of an
/// empty list. Throws c10::Error if the value does not fit it.
c10::IValue to_ivalue(const Value& value, const c10::TypePtr& type);

}  // namespace pareto::runtime
