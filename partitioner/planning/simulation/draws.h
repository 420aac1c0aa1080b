// Random numbers without a state: what request n of a pipeline draws for a purpose depends on these
// three alone, and on the seed. So the order of events changes nothing, two scenarios that differ
// in one thing see the same draws elsewhere, and nothing has to be kept.
#pragma once

#include <cstdint>
#include <span>

#include "partitioner/planning/simulation/scenario.h"

namespace pareto::simulation {

/// Returns 64 random bits; `key`: of a pipeline, itself made by this.
inline std::uint64_t random_bits(std::uint64_t key, std::uint64_t number, std::uint64_t purpose) {
  // Steele, Lea and Flood 2014: SplitMix64's finalizer, of a point on its Weyl sequence.
  std::uint64_t z = key + number * 0x9E3779B97F4A7C15U + purpose * 0xD1B54A32D192ED03U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

/// Returns a number in (0, 1): never an end, whose logarithm is none.
inline double uniform_of(std::uint64_t bits) {
  return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53;
}

/// Returns the standard normal deviate below which a share of all lies; share in (0, 1). To seven
/// digits (Wichura 1988, AS 241 PPND7).
double normal_quantile(double share);

/// A Duration made ready to be drawn from. Threads: any.
class DurationDraw {
 public:
  DurationDraw() = default;
  /// `speed`: what it is divided by.
  DurationDraw(const Duration& duration, double speed);

  /// Returns whether every draw is zero.
  bool is_zero() const { return kind_ == Kind::kConstant && constant_ == 0; }
  /// Draws a time in ns, at least 0. `row`: that of the pipeline's recording.
  std::int64_t draw(std::uint64_t bits, std::span<const std::int64_t> row) const {
    if (kind_ == Kind::kConstant) return constant_;
    return draw_varying(bits, row);
  }

 private:
  enum class Kind : std::uint8_t { kConstant, kRecorded, kLognormal, kNormal, kExponential };
  std::int64_t draw_varying(std::uint64_t bits, std::span<const std::int64_t> row) const;

  Kind kind_ = Kind::kConstant;
  int column_ = -1;
  std::int64_t constant_ = 0;
  double location_ = 0;  ///< factor of a recorded time
  double scale_ = 0;
};

}  // namespace pareto::simulation
