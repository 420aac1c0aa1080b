// Sets how many threads one operator may use. LibTorch's count belongs to a thread. OpenBLAS has
// its own count, which LibTorch does not set.
#pragma once

#include <cstdint>

namespace pareto::runtime {

/// Binds LibTorch's intra-op threads for the calling thread, and OpenBLAS's for the process. count:
/// 1 … 256. Cheap when unchanged.
void set_thread_count(int count);
/// Leaves a thread of a pool without others that would help it. OpenBLAS's count stays: the thread
/// that uses the pool sets it.
void let_work_alone();

/// Keeps oneDNN and LibTorch from using threads of their own in the calling thread, for as long as
/// it exists. Their threads spin for a while after each operator, where the pool's would work.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

/// Waits until no other thread of this process computes, a tenth of a second at most. Threads of
/// LibTorch and of its BLAS go on looking for work after an operator, some of them for 30 ms, on a
/// core that the next engine may need.
void await_idle_threads();

/// Lets the random numbers that models draw begin again. They are the process's: threads that draw
/// at the same time take from the same ones.
void seed_random_numbers(std::uint64_t seed);

}  // namespace pareto::runtime
