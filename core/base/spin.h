// Waiting for what comes within microseconds: looking for it at once costs less than sleeping.
#pragma once

#include <chrono>

namespace pareto {

/// The time for which threads look for work or a result before they sleep.
inline constexpr std::chrono::microseconds kSpin{30};

/// Waits until ready() is true, for at most kSpin; returns whether it is. Threads: any.
template <typename Ready>
bool spin_until(const Ready& ready) {
  // The clock is looked at now and then: reading it takes as long as ten pauses.
  constexpr int kPauses = 64;
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < kPauses; ++i) {
      if (ready()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      asm volatile("yield");
#endif
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

}  // namespace pareto
