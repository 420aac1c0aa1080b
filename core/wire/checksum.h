// XXH3, 64 bits: finds the bytes that TCP's 16-bit sum and faulty memory let through. Not a
// protection against forgery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace pareto::wire {

std::uint64_t checksum(std::span<const std::byte> bytes);

/// Sums bytes that come in pieces. The result equals checksum() of all of them.
///
/// Threads: one owner.
class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(Checksum&&) noexcept;
  Checksum& operator=(Checksum&&) noexcept;

  void reset();
  void update(std::span<const std::byte> bytes);
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pareto::wire
