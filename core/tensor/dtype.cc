#include "core/tensor/dtype.h"

#include <array>

namespace pareto {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array<Row, 13> kRows{{
    {DType::kUInt8, "uint8", 1},
    {DType::kInt8, "int8", 1},
    {DType::kInt16, "int16", 2},
    {DType::kInt32, "int32", 4},
    {DType::kInt64, "int64", 8},
    {DType::kFloat16, "float16", 2},
    {DType::kFloat32, "float32", 4},
    {DType::kFloat64, "float64", 8},
    {DType::kComplex32, "complex32", 4},
    {DType::kComplex64, "complex64", 8},
    {DType::kComplex128, "complex128", 16},
    {DType::kBool, "bool", 1},
    {DType::kBFloat16, "bfloat16", 2},
}};

}  // namespace

std::size_t size_of(DType dtype) {
  for (const Row& row : kRows) {
    if (row.dtype == dtype) return row.bytes;
  }
  return 1;
}

std::string_view to_string(DType dtype) {
  for (const Row& row : kRows) {
    if (row.dtype == dtype) return row.name;
  }
  return "unknown";
}

std::optional<DType> dtype_from_string(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

std::optional<DType> dtype_from_number(std::uint8_t number) {
  for (const Row& row : kRows) {
    if (static_cast<std::uint8_t>(row.dtype) == number) return row.dtype;
  }
  return std::nullopt;
}

}  // namespace pareto
