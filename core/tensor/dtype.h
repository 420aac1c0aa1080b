// Element types of tensors, numbered as TorchScript (c10::ScalarType) numbers them, so that the
// numbers may travel: they are part of the frame format. Quantised types carry a scale outside
// their bytes and are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pareto {

enum class DType : std::uint8_t {
  kUInt8 = 0,
  kInt8 = 1,
  kInt16 = 2,
  kInt32 = 3,
  kInt64 = 4,
  kFloat16 = 5,
  kFloat32 = 6,
  kFloat64 = 7,
  kComplex32 = 8,
  kComplex64 = 9,
  kComplex128 = 10,
  kBool = 11,
  kBFloat16 = 15,
};

/// Returns the bytes of one element: 1 … 16.
std::size_t size_of(DType dtype);
/// Returns "float32", "int64", "bool", …
std::string_view to_string(DType dtype);
std::optional<DType> dtype_from_string(std::string_view name);
/// Returns the DType with this number; none for a number that is not listed above.
std::optional<DType> dtype_from_number(std::uint8_t number);

}  // namespace pareto
