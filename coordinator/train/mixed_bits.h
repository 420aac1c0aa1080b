// Numbers that look random and are the same on every machine, unlike those of the distributions of
// the standard library.
#pragma once

#include <cstdint>

namespace pareto::train {

/// Mixes 64 bits (SplitMix64; Steele, Lea, Flood: "Fast splittable pseudorandom number generators",
/// 2014). Equal bits give equal bits, and neighbours unlike ones.
constexpr std::uint64_t mixed_bits(std::uint64_t bits) {
  bits += 0x9e3779b97f4a7c15ULL;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  return bits ^ (bits >> 31);
}

}  // namespace pareto::train
