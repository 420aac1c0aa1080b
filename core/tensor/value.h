// The tree of values that crosses a boundary. Not only tensors: TorchScript graphs pass ints,
// strings, lists, tuples, dicts and None between operators, and a split point may fall anywhere.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/tensor/tensor.h"

namespace pareto {

class Value;

struct None {};
/// A value that exists in the graph and holds nothing (what a branch not taken leaves in
/// TorchScript).
struct Uninitialized {};
/// Element types of lists are not kept: the graph that receives one knows its type.
struct List {
  std::vector<Value> items;
};
struct Tuple {
  std::vector<Value> items;
};
/// A dict in insertion order, as TorchScript keeps it.
struct Dict {
  std::vector<std::pair<Value, Value>> items;
};

/// One node of the tree with all below it. A value type: copies share tensor bytes, nothing else.
class Value {
 public:
  using Storage = std::variant<None, Uninitialized, bool, std::int64_t, double, std::string, Tensor,
                               List, Tuple, Dict>;

  Value() : storage_(None{}) {}
  // NOLINTBEGIN(google-explicit-constructor): a value is made from what it holds.
  Value(None v) : storage_(v) {}
  Value(Uninitialized v) : storage_(v) {}
  Value(bool v) : storage_(v) {}
  Value(std::int64_t v) : storage_(v) {}
  Value(double v) : storage_(v) {}
  Value(std::string v) : storage_(std::move(v)) {}
  Value(const char* v) : storage_(std::string(v)) {}
  Value(Tensor v) : storage_(std::move(v)) {}
  Value(List v) : storage_(std::move(v)) {}
  Value(Tuple v) : storage_(std::move(v)) {}
  Value(Dict v) : storage_(std::move(v)) {}
  // NOLINTEND(google-explicit-constructor)

  template <typename T>
  bool is() const {
    return std::holds_alternative<T>(storage_);
  }
  /// Returns the held T, or null.
  template <typename T>
  const T* get_if() const {
    return std::get_if<T>(&storage_);
  }
  template <typename T>
  T* get_if() {
    return std::get_if<T>(&storage_);
  }
  const Storage& storage() const { return storage_; }

 private:
  Storage storage_;
};

/// Returns whether two values have the same structure, with tensors and doubles equal bit for bit.
bool bit_equal(const Value& a, const Value& b);

/// Returns every tensor of the tree, depth first, in order.
std::vector<const Tensor*> tensors_of(const Value& value);
std::vector<const Tensor*> tensors_of(const std::vector<Value>& values);
/// Returns the bytes of all tensors of the tree.
std::uint64_t tensor_bytes(const Value& value);

/// Returns how far `actual` is from `expected`, over all tensors of floating type: max |a - e| /
/// max |e|. Infinity if structure, dtype or shape differ, if a NaN or infinity stands on one side
/// only, or if a tensor of another type differs.
double relative_error(const Value& expected, const Value& actual);

/// Returns "(Tensor 1x32x112x112 float32, int 7)": for tables and errors.
std::string describe(const Value& value);

}  // namespace pareto
