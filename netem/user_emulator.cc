#include "netem/user_emulator.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/file.h"
#include "core/base/file_descriptor.h"
#include "netem/delay_line.h"
#include "netem/packet_fates.h"
#include "netem/rate_changer.h"
#include "netem/trace.h"
#include "netem/tun_device.h"

namespace pareto::netem {
namespace {

/// Packets of one direction at least every so often leave while more keep coming.
constexpr int kMostReads = 64;

/// The longest time between two looks at the device while packets are on their way. It is not
/// looked at for every packet, as a network card does not interrupt for every one: a thread woken
/// twice for each would take a third of a core at 100 Mbit/s.
constexpr Nanoseconds kLongestTick = std::chrono::microseconds(500);
constexpr int kTicksADelay = 16;

/// Packets on time matter more than anybody's fair share. Best effort: without the right to it they
/// are late now and then.
void be_prompt() {
  sched_param priority{};
  priority.sched_priority = 1;
  pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
  prctl(PR_SET_TIMERSLACK, 1);
}

/// The treatment of packets of one direction.
struct Treatment {
  Treatment(const plan::LinkDirection& direction, std::uint64_t seed)
      : varies(direction.varies_by_packet()), trace(direction), fates(direction, seed) {}

  bool varies;
  Trace trace;
  PacketFates fates;
  TimePoint start = now();
};

/// One direction. Threads: its own; the destructor ends it.
class Pump {
 public:
  Pump(int from, int to, const plan::LinkDirection& direction, std::uint64_t seed,
       FileDescriptor wake)
      : from_(from),
        to_(to),
        seed_(seed),
        wake_(std::move(wake)),
        packet_(TunDevice::kMaxPacketBytes),
        treatment_(direction, seed),
        thread_([this] { run(); }) {}
  ~Pump() {
    stopping_ = true;
    wake();
  }
  Pump(const Pump&) = delete;
  Pump& operator=(const Pump&) = delete;

  void change(const plan::LinkDirection& direction) {
    {
      const std::lock_guard lock(mutex_);
      next_.emplace(direction, seed_);
    }
    wake();
  }
  void disturb(PacketFaults faults) {
    {
      const std::lock_guard lock(mutex_);
      next_faults_ = std::move(faults);
    }
    wake();
  }
  std::uint64_t lost() const { return lost_; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  void wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof(one));
  }

  void run() {
    be_prompt();
    std::array<pollfd, 2> polled{{{wake_.get(), POLLIN, 0}, {from_, POLLIN, 0}}};
    while (!stopping_) {
      if (polled[0].revents != 0) take_over();
      const bool all = take();
      hand_over();
      if (all) wait(polled);
    }
  }

  void take_over() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto got = ::read(wake_.get(), &count, sizeof(count));
    const std::lock_guard lock(mutex_);
    if (next_) treatment_ = *std::move(next_);
    next_.reset();
    if (next_faults_) faults_ = *std::move(next_faults_);
    next_faults_.reset();
  }

  /// Takes packets that are there. Returns whether none is left.
  bool take() {
    const TimePoint time = now();
    // Some time since the last look: half of it is right on average.
    const TimePoint came = watches_ ? time : time - (time - looked_) / 2;
    looked_ = time;
    for (int i = 0; i < kMostReads; ++i) {
      const ssize_t got = ::read(from_, packet_.data(), packet_.size());
      if (got <= 0) return true;
      accept({packet_.data(), static_cast<std::size_t>(got)}, came);
    }
    return false;
  }

  void accept(std::span<std::byte> packet, TimePoint came) {
    const Nanoseconds delay = treatment_.trace.at(came - treatment_.start).delay;
    PacketFate fate{.delay = delay};
    if (treatment_.varies) fate = treatment_.fates.next(delay);
    for (const auto& fault : faults_) {
      if (!fate.lost) packet = fault->treat(packet, fate);
    }
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
    const Nanoseconds tick = std::min(
        treatment_.trace.at(looked_ - treatment_.start).delay / kTicksADelay, kLongestTick);
    watches_ = !next || tick.count() <= 0;
    if (next) {
      const TimePoint until = watches_ ? *next : std::min(*next, looked_ + tick);
      const auto wait = std::max<Nanoseconds>(until - now(), Nanoseconds(0));
      left.tv_sec = wait.count() / 1'000'000'000;
      left.tv_nsec = wait.count() % 1'000'000'000;
    }
    ::ppoll(polled.data(), watches_ ? 2 : 1, next ? &left : nullptr, nullptr);
  }

  const int from_;
  const int to_;
  const std::uint64_t seed_;
  const FileDescriptor wake_;  ///< readable: there is something else than packets
  DelayLine line_;
  bool watches_ = true;  ///< a packet that comes wakes it
  TimePoint looked_{};   ///< time of the last look for packets
  std::vector<std::byte> packet_;
  Treatment treatment_;
  PacketFaults faults_;
  std::mutex mutex_;
  std::optional<Treatment> next_;            ///< guarded by mutex_
  std::optional<PacketFaults> next_faults_;  ///< guarded by mutex_
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::jthread thread_;  // last: it uses all of the above
};

Expected<FileDescriptor> make_event() {
  FileDescriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return tl::unexpected(error_from_errno(errno, "making an event"));
  return event;
}

/// One direction with all it takes. Threads: as LinkEmulator.
class PumpedDirection {
 public:
  PumpedDirection(TunDevice& from, const TunDevice& to, const plan::LinkDirection& direction,
                  std::uint64_t seed, FileDescriptor wake)
      : device_(from), pump_(from.descriptor(), to.descriptor(), direction, seed, std::move(wake)) {
    follow(direction);
  }

  Expected<> change(const plan::LinkDirection& direction) {
    rate_.reset();
    PARETO_TRY(device_.change(at_first(direction)));
    pump_.change(direction);
    follow(direction);
    return {};
  }
  Expected<> disturb(PacketFaults faults) {
    PARETO_TRY(device_.separate(!faults.empty()));
    pump_.disturb(std::move(faults));
    return {};
  }
  Expected<> check() const {
    if (rate_) return rate_->check();
    return fail(ErrorCode::kInternal, "the link's condition could not be changed");
  }
  const Pump& pump() const { return pump_; }

 private:
  /// The delay is the pump's concern.
  void follow(const plan::LinkDirection& direction) {
    rate_.emplace(direction, RateChanger::Follows::kRate,
                  [this](const plan::LinkDirection& now) { return device_.change(now); });
  }

  TunDevice& device_;
  Pump pump_;
  std::optional<RateChanger> rate_;
};

/// A link of two tun devices, between which this process carries packets.
///
/// Threads: as LinkEmulator.
class TunEmulator final : public LinkEmulator {
 public:
  TunEmulator(TunDevice first, TunDevice second, const plan::Condition& condition,
              std::uint64_t seed, FileDescriptor wake_forward, FileDescriptor wake_backward)
      : first_(std::move(first)),
        second_(std::move(second)),
        forward_(first_, second_, condition.forward, 2 * seed, std::move(wake_forward)),
        backward_(second_, first_, condition.backward, 2 * seed + 1, std::move(wake_backward)) {}

  EmulatorKind kind() const override { return EmulatorKind::kUser; }
  Expected<> change(const plan::Condition& condition) override {
    PARETO_TRY(forward_.change(condition.forward));
    return backward_.change(condition.backward);
  }
  Expected<> disturb(PacketFaults forward, PacketFaults backward) override {
    PARETO_TRY(forward_.disturb(std::move(forward)));
    return backward_.disturb(std::move(backward));
  }
  std::uint64_t lost_packets() const override {
    return forward_.pump().lost() + backward_.pump().lost();
  }
  std::uint64_t dropped_packets() const override {
    return forward_.pump().dropped() + backward_.pump().dropped();
  }
  Expected<> check() const override {
    PARETO_TRY(forward_.check());
    return backward_.check();
  }

 private:
  TunDevice first_;
  TunDevice second_;
  PumpedDirection forward_;
  PumpedDirection backward_;
};

}  // namespace

Expected<std::unique_ptr<LinkEmulator>> make_user_emulator(const LinkEnd& first,
                                                           const LinkEnd& second,
                                                           const plan::Condition& condition,
                                                           std::uint64_t seed) {
  PARETO_ASSIGN(
      TunDevice first_device,
      TunDevice::create(first.where, first.address, second.address, at_first(condition.forward)));
  PARETO_ASSIGN(
      TunDevice second_device,
      TunDevice::create(second.where, second.address, first.address, at_first(condition.backward)));
  PARETO_ASSIGN(FileDescriptor wake_forward, make_event());
  PARETO_ASSIGN(FileDescriptor wake_backward, make_event());
  return std::make_unique<TunEmulator>(std::move(first_device), std::move(second_device), condition,
                                       seed, std::move(wake_forward), std::move(wake_backward));
}

}  // namespace pareto::netem
