// Sizes of inputs that vary from request to request, such as the height and width of pictures, and
// dimensions that follow them. No LibTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pareto::model {

/// A size that inputs may have: least, least + step, and so on up to most.
struct VaryingSize {
  std::string name;  ///< "H", "W"
  std::int64_t least = 1;
  std::int64_t most = 1;
  std::int64_t step = 1;
  bool holds(std::int64_t size) const {
    return size >= least && size <= most && (size - least) % step == 0;
  }
  bool operator==(const VaryingSize&) const = default;
};

/// Returns "H = 32, W = 32". `values`: one for each size.
std::string sizes_text(const std::vector<VaryingSize>& sizes,
                       const std::vector<std::int64_t>& values);

/// A dimension that follows a size: (factor × size + offset) / divisor, rounded down.
struct SizeExpression {
  std::size_t size = 0;  ///< index into Graph::sizes
  std::int64_t factor = 1;
  std::int64_t offset = 0;
  std::int64_t divisor = 1;
  std::int64_t at(std::int64_t value) const;
  /// Returns "H/4", "(H+3)/4", "2H+1".
  std::string text(const std::string& name) const;
  bool operator==(const SizeExpression&) const = default;
};

/// Expressions of the dimensions of a value's tensors, depth first. A dimension without one follows
/// no size. Empty: none does.
using SizeExpressions = std::vector<std::optional<SizeExpression>>;

/// Fits expressions to a dimension that was seen at a few sizes.
///
/// Threads: one owner.
class SizeFit {
 public:
  /// Begins with all expressions of a dimension that is `at_least` at the least size and `at_most`
  /// at the greatest one that the range holds. Divisors are 64 at most.
  SizeFit(const VaryingSize& range, std::int64_t at_least, std::int64_t at_most);
  /// Drops those that do not give `dimension` at a size.
  void see(std::int64_t size, std::int64_t dimension);
  /// Returns the simplest one that is left, one that never rounds before all others; no value: none
  /// is.
  std::optional<SizeExpression> simplest() const;
  /// Returns the size of the range that tells most of those that are left apart, or any if none was
  /// seen between the ends; no value: nothing is left to be told.
  std::optional<std::int64_t> telling_size() const;

 private:
  VaryingSize range_;
  std::vector<SizeExpression> left_;  ///< simple ones first
  bool is_checked_ = false;           ///< a size between the ends was seen
};

}  // namespace pareto::model
