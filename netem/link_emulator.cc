#include "netem/link_emulator.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "core/base/file.h"
#include "core/base/file_descriptor.h"
#include "netem/delay_line.h"
#include "netem/packet_fates.h"
#include "netem/trace.h"
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
  Pump(int from, int to, const LinkDirection& direction, std::uint64_t seed, TimePoint start,
       FileDescriptor stop)
      : from_(from),
        to_(to),
        varies_(direction.varies_by_packet()),
        trace_(direction),
        start_(start),
        fates_(direction, seed),
        stop_(std::move(stop)),
        packet_(TunDevice::kMaxPacketBytes),
        thread_([this] { run(); }) {}
  ~Pump() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof(one));
  }
  Pump(const Pump&) = delete;
  Pump& operator=(const Pump&) = delete;

  std::uint64_t lost() const { return lost_; }
  std::uint64_t dropped() const { return dropped_; }

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
      accept({packet_.data(), static_cast<std::size_t>(got)});
    }
  }

  void accept(std::span<const std::byte> packet) {
    const TimePoint came = now();
    const Nanoseconds delay = trace_.at(came - start_).delay;
    PacketFate fate{.delay = delay};
    if (varies_) fate = fates_.next(delay);
    if (fate.lost) {
      ++dropped_;
      return;
    }
    for (int copies = fate.duplicated ? 2 : 1; copies > 0; --copies) {
      const bool taken =
          fate.overtakes ? line_.push_first(came, packet) : line_.push(came, fate.delay, packet);
      if (!taken) ++lost_;
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
  const bool varies_;
  const Trace trace_;
  const TimePoint start_;
  PacketFates fates_;
  const FileDescriptor stop_;  ///< readable: the end
  DelayLine line_;
  std::vector<std::byte> packet_;
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::jthread thread_;  // last: it uses all of the above
};

/// Changes a device's rate as the trace has it. Threads: its own, inside the device's namespace; the destructor ends it.
class RateChanger {
 public:
  RateChanger(const NetworkNamespace& where, std::string device, const LinkDirection& direction,
              TimePoint start)
      : device_(std::move(device)), direction_(direction), trace_(direction), start_(start) {
    if (!trace_.changes_rate()) return;
    std::promise<void> inside;
    thread_ = std::jthread([&, this](const std::stop_token& stop) {
      note(where.enter());
      inside.set_value();
      run(stop);
    });
    // The namespace may go afterwards.
    inside.get_future().wait();
  }
  RateChanger(const RateChanger&) = delete;
  RateChanger& operator=(const RateChanger&) = delete;

  Expected<> check() const {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  void run(const std::stop_token& stop) {
    std::uint64_t current = trace_.at(Nanoseconds(0)).bits_per_second;
    while (!stop.stop_requested()) {
      const Trace::State state = trace_.at(now() - start_);
      if (state.bits_per_second != current) {
        current = state.bits_per_second;
        direction_.bits_per_second = current;
        note(limit_rate(device_, direction_));
      }
      std::unique_lock lock(mutex_);
      if (!state.until) return;
      stopped_.wait_until(lock, stop, start_ + *state.until, [] { return false; });
    }
  }

  void note(Expected<> done) {
    if (done) return;
    const std::lock_guard lock(mutex_);
    if (failure_) failure_ = std::move(done);
  }

  const std::string device_;
  LinkDirection direction_;  ///< with the rate as it is now
  const Trace trace_;
  const TimePoint start_;
  mutable std::mutex mutex_;
  std::condition_variable_any stopped_;
  Expected<> failure_;
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
  /// One end's device, and what ends the thread that reads it.
  struct End {
    const NetworkNamespace& where;
    TunDevice device;
    FileDescriptor stop;
  };

  TunEmulator(End first, End second, const Condition& condition, std::uint64_t seed)
      : first_(std::move(first.device)),
        second_(std::move(second.device)),
        start_(now()),
        forward_(first_.descriptor(), second_.descriptor(), condition.forward, 2 * seed, start_,
                 std::move(first.stop)),
        backward_(second_.descriptor(), first_.descriptor(), condition.backward, 2 * seed + 1,
                  start_, std::move(second.stop)),
        forward_rate_(first.where, first_.name(), condition.forward, start_),
        backward_rate_(second.where, second_.name(), condition.backward, start_) {}

  std::uint64_t lost_packets() const override { return forward_.lost() + backward_.lost(); }
  std::uint64_t dropped_packets() const override {
    return forward_.dropped() + backward_.dropped();
  }
  Expected<> check() const override {
    PARETO_TRY(forward_rate_.check());
    return backward_rate_.check();
  }

 private:
  const TunDevice first_;
  const TunDevice second_;
  const TimePoint start_;
  Pump forward_;
  Pump backward_;
  RateChanger forward_rate_;
  RateChanger backward_rate_;
};

Expected<TunEmulator::End> make_end(const LinkEnd& here, const LinkEnd& there, LinkDirection out) {
  // What its trace begins with.
  out.bits_per_second = Trace(out).at(Nanoseconds(0)).bits_per_second;
  PARETO_ASSIGN(TunDevice device, TunDevice::create(here.where, here.address, there.address, out));
  PARETO_ASSIGN(FileDescriptor stop, stop_event());
  return TunEmulator::End{here.where, std::move(device), std::move(stop)};
}

}  // namespace

Expected<std::unique_ptr<LinkEmulator>> LinkEmulator::create(const LinkEnd& first,
                                                             const LinkEnd& second,
                                                             const Condition& condition,
                                                             std::uint64_t seed) {
  PARETO_ASSIGN(auto first_end, make_end(first, second, condition.forward));
  PARETO_ASSIGN(auto second_end, make_end(second, first, condition.backward));
  return std::make_unique<TunEmulator>(std::move(first_end), std::move(second_end), condition,
                                       seed);
}

}  // namespace pareto::netem
