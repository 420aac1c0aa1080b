// A library that sets the clock of the day for a program, and for no other: tests only.
//
//   LD_PRELOAD=libstep_clock.so STEP_CLOCK=/tmp/step program
//
// The file holds eight bytes, the nanoseconds by which the clock is ahead. They are read at each
// call, so that a test steps the clock of a program that runs. Other clocks are as they are.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

const volatile std::int64_t* map_step() {
  static const std::int64_t kNone = 0;
  const char* path = std::getenv("STEP_CLOCK");
  if (path == nullptr) return &kNone;
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  void* mapped = ::mmap(nullptr, sizeof(kNone), PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  return mapped == MAP_FAILED ? &kNone : static_cast<const volatile std::int64_t*>(mapped);
}

std::int64_t step() {
  static const volatile std::int64_t* const value = map_step();
  return *value;
}

bool is_of_the_day(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) {
  static auto* const next =
      reinterpret_cast<int (*)(clockid_t, timespec*)>(::dlsym(RTLD_NEXT, "clock_gettime"));
  const int result = next(clock, time);
  if (result != 0 || !is_of_the_day(clock)) return result;
  const std::int64_t stepped = time->tv_sec * kSecond + time->tv_nsec + step();
  time->tv_sec = stepped / kSecond;
  time->tv_nsec = stepped % kSecond;
  return 0;
}

int gettimeofday(timeval* time, void* /*zone*/) {
  timespec now{};
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* result) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (result != nullptr) *result = now.tv_sec;
  return now.tv_sec;
}

}  // extern "C"
