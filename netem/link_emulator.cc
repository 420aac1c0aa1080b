#include "netem/link_emulator.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "core/base/file.h"
#include "core/base/file_descriptor.h"
#include "netem/delay_line.h"
#include "netem/tun_device.h"

namespace pareto::netem {
namespace {

/// Packets of one direction at least every so often leave while more keep coming.
constexpr int kMostReads = 64;

TimePoint now() { return std::chrono::steady_clock::now(); }

/// Packets on time matter more than anybody's fair share. Best effort: without the right to it they are late now and then.
void be_prompt() {
  sched_param priority{};
  priority.sched_priority = 1;
  pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
  prctl(PR_SET_TIMERSLACK, 1);
}

/// One direction. Threads: its own; the destructor ends it.
class Pump {
 public:
  Pump(int from, int to, Nanoseconds delay, FileDescriptor stop)
      : from_(from),
        to_(to),
        stop_(std::move(stop)),
        line_(delay),
        packet_(TunDevice::kMaxPacketBytes),
        thread_([this] { run(); }) {}
  ~Pump() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof(one));
  }
  Pump(const Pump&) = delete;
  Pump& operator=(const Pump&) = delete;

  std::uint64_t lost() const { return lost_; }

 private:
  void run() {
    be_prompt();
    std::array<pollfd, 2> polled{{{from_, POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
    while (polled[1].revents == 0) {
      take();
      hand_over();
      wait(polled);
    }
  }

  void take() {
    for (int i = 0; i < kMostReads; ++i) {
      const ssize_t got = ::read(from_, packet_.data(), packet_.size());
      if (got <= 0) return;
      if (!line_.push(now(), {packet_.data(), static_cast<std::size_t>(got)})) ++lost_;
    }
  }

  void hand_over() {
    while (const auto packet = line_.pop(now())) {
      if (::write(to_, packet->data(), packet->size()) < 0) ++lost_;
    }
  }

  void wait(std::array<pollfd, 2>& polled) {
    timespec left{};
    const Deadline next = line_.next();
    if (next) {
      const auto wait = std::max<Nanoseconds>(*next - now(), Nanoseconds(0));
      left.tv_sec = wait.count() / 1'000'000'000;
      left.tv_nsec = wait.count() % 1'000'000'000;
    }
    ::ppoll(polled.data(), polled.size(), next ? &left : nullptr, nullptr);
  }

  const int from_;
  const int to_;
  const FileDescriptor stop_;  ///< readable: the end
  DelayLine line_;
  std::vector<std::byte> packet_;
  std::atomic<std::uint64_t> lost_{0};
  std::jthread thread_;  // last: it uses all of the above
};

Expected<FileDescriptor> stop_event() {
  FileDescriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return tl::unexpected(error_from_errno(errno, "making an event"));
  return event;
}

/// Threads: as LinkEmulator.
class TunEmulator final : public LinkEmulator {
 public:
  TunEmulator(TunDevice first, TunDevice second, const Condition& condition,
              FileDescriptor stop_forward, FileDescriptor stop_backward)
      : first_(std::move(first)),
        second_(std::move(second)),
        forward_(first_.descriptor(), second_.descriptor(), condition.forward.delay,
                 std::move(stop_forward)),
        backward_(second_.descriptor(), first_.descriptor(), condition.backward.delay,
                  std::move(stop_backward)) {}

  std::uint64_t lost_packets() const override { return forward_.lost() + backward_.lost(); }

 private:
  const TunDevice first_;
  const TunDevice second_;
  Pump forward_;
  Pump backward_;
};

}  // namespace

Expected<std::unique_ptr<LinkEmulator>> LinkEmulator::create(const LinkEnd& first,
                                                             const LinkEnd& second,
                                                             const Condition& condition) {
  PARETO_ASSIGN(TunDevice first_device,
                TunDevice::create(first.where, first.address, second.address, condition.forward));
  PARETO_ASSIGN(TunDevice second_device,
                TunDevice::create(second.where, second.address, first.address, condition.backward));
  PARETO_ASSIGN(FileDescriptor stop_forward, stop_event());
  PARETO_ASSIGN(FileDescriptor stop_backward, stop_event());
  return std::make_unique<TunEmulator>(std::move(first_device), std::move(second_device), condition,
                                       std::move(stop_forward), std::move(stop_backward));
}

}  // namespace pareto::netem
