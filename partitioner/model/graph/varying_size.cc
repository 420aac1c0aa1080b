#include "partitioner/model/graph/varying_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "core/base/text.h"
#include "core/tensor/describe_spec.h"
#include "partitioner/model/graph/graph.h"

namespace pareto::model {
namespace {

constexpr std::int64_t kLargestDivisor = 64;
// Of a wide range some sizes tell as much as all.
constexpr std::int64_t kMostSizesAsked = 512;

std::int64_t rounded_down(std::int64_t number, std::int64_t divisor) {
  return number >= 0 ? number / divisor : -((-number + divisor - 1) / divisor);
}

/// Returns the greatest size that a range holds.
std::int64_t greatest(const VaryingSize& range) {
  return range.least + (range.most - range.least) / range.step * range.step;
}

/// Returns how many of the numbers are the most common one.
std::size_t most_alike(std::vector<std::int64_t>& numbers) {
  std::ranges::sort(numbers);
  std::size_t most = 0;
  for (auto begin = numbers.begin(); begin != numbers.end();) {
    const auto end = std::upper_bound(begin, numbers.end(), *begin);
    most = std::max(most, static_cast<std::size_t>(end - begin));
    begin = end;
  }
  return most;
}

}  // namespace

std::string sizes_text(const std::vector<VaryingSize>& sizes,
                       const std::vector<std::int64_t>& values) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    texts.push_back(fmt::format("{} = {}", sizes[i].name, values[i]));
  }
  return join(texts);
}

std::int64_t SizeExpression::at(std::int64_t value) const {
  return rounded_down(factor * value + offset, divisor);
}

std::string SizeExpression::text(const std::string& name) const {
  std::string sum = factor == 1 ? name : fmt::format("{}{}", factor, name);
  if (offset != 0) sum += fmt::format("{:+}", offset);
  if (divisor == 1) return sum;
  return fmt::format("{}/{}", offset == 0 ? sum : "(" + sum + ")", divisor);
}

SizeFit::SizeFit(const VaryingSize& range, std::int64_t at_least, std::int64_t at_most)
    : range_(range) {
  const std::int64_t last = greatest(range);
  const auto distance = static_cast<double>(last - range.least);
  const auto rise = static_cast<double>(at_most - at_least);
  for (std::int64_t divisor = 1; divisor <= kLargestDivisor; ++divisor) {
    // Rounding down changes the rise by less than 1.
    const double scale = static_cast<double>(divisor) / distance;
    const auto low = static_cast<std::int64_t>(std::floor((rise - 1) * scale));
    const auto high = static_cast<std::int64_t>(std::ceil((rise + 1) * scale));
    for (std::int64_t factor = std::max<std::int64_t>(low, 1); factor <= high; ++factor) {
      if (std::gcd(factor, divisor) != 1) continue;
      const std::int64_t first = divisor * at_least - factor * range.least;
      for (std::int64_t offset = first; offset < first + divisor; ++offset) {
        const SizeExpression one{0, factor, offset, divisor};
        if (one.at(last) == at_most) left_.push_back(one);
      }
    }
  }
  std::ranges::stable_sort(left_, {}, [&](const SizeExpression& one) {
    const bool rounds = (one.factor * range_.least + one.offset) % one.divisor != 0 ||
                        one.factor * range_.step % one.divisor != 0;
    return std::tuple(rounds, one.divisor * (one.offset == 0 ? 1 : 2) + one.factor,
                      std::abs(one.offset));
  });
}

void SizeFit::see(std::int64_t size, std::int64_t dimension) {
  is_checked_ = true;
  std::erase_if(left_, [&](const SizeExpression& one) { return one.at(size) != dimension; });
}

std::optional<SizeExpression> SizeFit::simplest() const {
  if (left_.empty()) return std::nullopt;
  return left_.front();
}

std::optional<std::int64_t> SizeFit::telling_size() const {
  const std::int64_t count = (range_.most - range_.least) / range_.step + 1;
  if (left_.empty() || count < 3) return std::nullopt;
  if (!is_checked_ && left_.size() == 1) return range_.least + count / 2 * range_.step;
  const std::int64_t stride = (count + kMostSizesAsked - 1) / kMostSizesAsked * range_.step;
  std::optional<std::int64_t> best;
  std::size_t least_alike = left_.size();
  std::vector<std::int64_t> dimensions(left_.size());
  for (std::int64_t size = range_.least; size <= range_.most; size += stride) {
    std::ranges::transform(left_, dimensions.begin(),
                           [&](const SizeExpression& one) { return one.at(size); });
    const std::size_t alike = most_alike(dimensions);
    if (alike >= least_alike) continue;
    least_alike = alike;
    best = size;
  }
  if (!best && !is_checked_) return range_.least + count / 2 * range_.step;
  return best;
}

std::string describe(const Graph& graph, const GraphValue& value) {
  if (value.sizes.empty()) return value.spec.describe();
  return pareto::describe(value.spec, [&](std::size_t dimension) -> std::string {
    if (dimension >= value.sizes.size() || !value.sizes[dimension]) return {};
    const SizeExpression& one = *value.sizes[dimension];
    return one.text(graph.sizes[one.size].name);
  });
}

}  // namespace pareto::model
