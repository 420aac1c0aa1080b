// Samples made up on the spot, for tests of training.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "coordinator/data/data_set.h"

namespace pareto::train {

/// Returns a float32 tensor.
inline Tensor tensor_of(Shape shape, const std::vector<float>& numbers) {
  auto tensor = Tensor::allocate(DType::kFloat32, std::move(shape)).value();
  std::memcpy(tensor.mutable_bytes().data(), numbers.data(), tensor.size_bytes());
  return tensor;
}

inline std::vector<float> floats_of(const Tensor& tensor) {
  std::vector<float> numbers(tensor.size_bytes() / sizeof(float));
  std::memcpy(numbers.data(), tensor.bytes().data(), tensor.size_bytes());
  return numbers;
}

/// Sample i is {i, i + 0.5, …}, and its label i % classes.
class SmallData final : public data::DataSet {
 public:
  SmallData(std::int64_t size, std::int64_t classes) : size_(size), classes_(classes) {}
  std::string title() const override { return "small"; }
  std::int64_t size() const override { return size_; }
  std::int64_t classes() const override { return classes_; }
  const std::vector<std::string>& class_names() const override { return names_; }
  Expected<data::Sample> sample(std::int64_t index) const override {
    if (index == broken_) return fail(ErrorCode::kCorrupt, "cat/7.png: no picture");
    const auto start = static_cast<float>(index);
    return data::Sample{tensor_of({3}, {start, start + 0.5F, start + 1}), index % classes_};
  }
  /// Makes a sample unreadable; −1: none.
  void break_sample(std::int64_t index) { broken_ = index; }

 private:
  std::int64_t size_;
  std::int64_t classes_;
  std::int64_t broken_ = -1;
  std::vector<std::string> names_;
};

}  // namespace pareto::train
