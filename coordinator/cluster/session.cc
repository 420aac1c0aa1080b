#include "coordinator/cluster/session.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "coordinator/cluster/call_result.h"
#include "coordinator/cluster/certificate_watch.h"
#include "coordinator/cluster/control_address.h"
#include "core/control/wire.h"
#include "proto/control.grpc.pb.h"

namespace pareto::cluster {
namespace {

namespace v1 = control::v1;

/// The longest that the first answer takes; later ones are due within a lease.
constexpr Nanoseconds kFirstAnswer = std::chrono::seconds(60);
/// Time between two questions of a session that waits for its turn.
constexpr Nanoseconds kAsking = std::chrono::milliseconds(200);
/// Answers whose slowest counts.
constexpr std::size_t kRecent = 16;
constexpr int kMostNamed = 256;

TimePoint time_now() { return std::chrono::steady_clock::now(); }

/// The call, and the threads that use it.
struct Attending {
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<v1::AttendRequest, v1::AttendReply>> call;
  std::jthread writer;
  std::jthread reader;
};

}  // namespace

struct Session::Impl {
  Impl(const DeviceConfig& of, std::shared_ptr<const tls::Credentials> own,
       std::shared_ptr<grpc::Channel> channel, bool beating, std::function<void()> lost)
      : config(of),
        stub(v1::Control::NewStub(std::move(channel))),
        beats(beating),
        on_loss(std::move(lost)),
        certificate(config, std::move(own)) {}

  /// A request that has not been answered.
  struct Sent {
    TimePoint at;
    std::uint64_t version;
  };

  const DeviceConfig& config;
  const std::unique_ptr<v1::Control::Stub> stub;
  const bool beats;
  const std::function<void()> on_loss;
  CertificateWatch certificate;  ///< the daemon's

  mutable std::mutex mutex;  ///< guards all below
  std::condition_variable changed;
  std::vector<std::string> peers;
  control::DeviceUse use;
  std::uint64_t version = 1;  ///< grows with each change of peers or use
  std::uint64_t told = 0;     ///< the version that the daemon has answered
  std::uint64_t session = 0;
  std::uint64_t term = 0;
  std::vector<control::Holder> holders;
  std::deque<Sent> sent;
  std::deque<Nanoseconds> answers;  ///< times that the last ones took
  std::optional<Error> ended;       ///< why the call ended
  std::optional<Error> loss;
  bool abandoned = false;
  bool ending = false;
  std::unique_ptr<Attending> attending;

  v1::AttendRequest request() const {
    v1::AttendRequest request;
    for (const std::string& peer : peers) request.add_peers(peer);
    request.set_beats(beats);
    *request.mutable_use() = control::to_wire(use);
    request.set_slowest_ms(static_cast<std::uint32_t>(
        std::chrono::ceil<std::chrono::milliseconds>(slowest()).count()));
    return request;
  }

  Nanoseconds slowest() const {
    return answers.empty() ? Nanoseconds(0) : *std::ranges::max_element(answers);
  }

  /// Begins the call if there is none. `mutex` is held.
  void begin() {
    if (attending || abandoned) return;
    attending = std::make_unique<Attending>();
    attending->call = stub->Attend(&attending->context);
    attending->writer = std::jthread([this, one = attending.get()] { write(*one); });
    attending->reader = std::jthread([this, one = attending.get()] { read(*one); });
  }

  /// Waits until the daemon has answered what it is told now, or the call has ended.
  Expected<> wait_for_answer(std::unique_lock<std::mutex>& lock) {
    const bool answered = changed.wait_until(lock, time_now() + kFirstAnswer, [this] {
      return told >= version || ended || loss || abandoned;
    });
    if (loss) return tl::unexpected(*loss);
    if (told >= version) return {};
    if (ended) return tl::unexpected(*ended);
    if (abandoned) {
      return fail(ErrorCode::kUnavailable, "{}: it is given up", name_and_address(config));
    }
    return answered ? Expected<>()
                    : fail(ErrorCode::kTimeout, "{}: beginning a session: no answer within {:g} s",
                           name_and_address(config), to_seconds(kFirstAnswer));
  }

  void write(Attending& one) {
    std::unique_lock lock(mutex);
    std::uint64_t written = 0;
    TimePoint next = time_now();
    for (;;) {
      const auto due = [&] { return ending || ended || loss || version > written; };
      if (beats || written == 0) {
        changed.wait_until(lock, next, due);
      } else {
        changed.wait(lock, due);
      }
      if (ending || ended || loss) return;
      const TimePoint now = time_now();
      // Answers that came while this process did not run have not been read yet.
      if (now > next + control::kBeat) {
        for (Sent& request : sent) request.at = now;
      }
      if (is_silent(one, now, lock) || is_refused(one, lock)) return;
      written = version;
      const v1::AttendRequest said = request();
      sent.push_back({now, written});
      lock.unlock();
      const bool taken = one.call->Write(said);
      lock.lock();
      if (!taken) return;
      next = time_now() + (session == 0 && told > 0 ? kAsking : control::kBeat);
    }
  }

  /// Returns whether the daemon is lost, because what it was sent long ago has no answer.
  bool is_silent(Attending& one, TimePoint now, std::unique_lock<std::mutex>& lock) {
    if (!beats || sent.empty()) return false;
    const Nanoseconds silent = now - sent.front().at;
    const Nanoseconds patience = answers.empty() ? kFirstAnswer : control::lease_for(slowest());
    if (silent <= patience) return false;
    lose(one, lock,
         fmt::format("{}: its daemon gave no sign of life for {:.1f} s: it hangs, or the network "
                     "between is cut",
                     name_and_address(config), to_seconds(silent)));
    return true;
  }

  /// Returns whether the daemon is lost, because its certificate does not hold any more.
  bool is_refused(Attending& one, std::unique_lock<std::mutex>& lock) {
    if (told == 0) return false;
    const auto holds = certificate.check(one.context);
    if (!holds) lose(one, lock, holds.error().message);
    return !holds;
  }

  void lose(Attending& one, std::unique_lock<std::mutex>& lock, std::string why) {
    loss = Error{ErrorCode::kUnavailable, std::move(why)};
    one.context.TryCancel();
    changed.notify_all();
    lock.unlock();
    on_loss();
    lock.lock();
  }

  void read(Attending& one) {
    v1::AttendReply reply;
    while (one.call->Read(&reply)) take_answer(reply);
    const grpc::Status status = one.call->Finish();
    const std::lock_guard lock(mutex);
    ended = why_it_ended(status);
    changed.notify_all();
  }

  void take_answer(const v1::AttendReply& reply) {
    const std::lock_guard lock(mutex);
    if (sent.empty()) return;  // more answers than requests: they say nothing
    told = std::max(told, sent.front().version);
    // This process may have stood still, which says nothing of the device.
    answers.push_back(std::min(time_now() - sent.front().at, control::lease_for(slowest())));
    if (answers.size() > kRecent) answers.pop_front();
    sent.pop_front();
    session = reply.session();
    term = reply.term();
    holders.clear();
    for (int i = 0; i < std::min(reply.holders_size(), kMostNamed); ++i) {
      holders.push_back(control::from_wire(reply.holders(i)));
    }
    changed.notify_all();
  }

  Error why_it_ended(const grpc::Status& status) const {
    const auto why = call_result(status, config, "beginning a session");
    if (why) {
      return {ErrorCode::kUnavailable,
              fmt::format("{}: it takes no coordinator", name_and_address(config))};
    }
    Error error = why.error();
    // A daemon that is ending is not there for this coordinator.
    if (error.code == ErrorCode::kClosed) error.code = ErrorCode::kUnavailable;
    return error;
  }

  /// Ends the call and its threads. Called by one thread at a time.
  void end() {
    std::unique_ptr<Attending> one;
    {
      const std::lock_guard lock(mutex);
      ending = true;
      one = std::move(attending);
      if (one) one->context.TryCancel();
      changed.notify_all();
    }
    one.reset();
    const std::lock_guard lock(mutex);
    ending = false;
    told = 0;
    session = 0;
    sent.clear();
    holders.clear();
    answers.clear();
    ended.reset();
    loss.reset();
  }
};

Session::Session(const DeviceConfig& config, std::shared_ptr<const tls::Credentials> own,
                 std::shared_ptr<grpc::Channel> channel, bool beats, std::function<void()> on_loss)
    : impl_(std::make_unique<Impl>(config, std::move(own), std::move(channel), beats,
                                   std::move(on_loss))) {}

Session::~Session() { impl_->end(); }

void Session::name_peers(std::vector<std::string> addresses) {
  const std::lock_guard lock(impl_->mutex);
  if (addresses == impl_->peers) return;
  impl_->peers = std::move(addresses);
  ++impl_->version;
  impl_->changed.notify_all();
}

Expected<std::uint64_t> Session::take(const control::DeviceUse& use, TimePoint until,
                                      const Waiting& waiting) {
  std::unique_lock lock(impl_->mutex);
  impl_->use = use;
  ++impl_->version;
  impl_->begin();
  impl_->changed.notify_all();
  PARETO_TRY(impl_->wait_for_answer(lock));
  while (impl_->session == 0 && !impl_->ended && !impl_->loss) {
    const std::vector<control::Holder> holders = impl_->holders;
    // To show it may take long. Beats go on.
    lock.unlock();
    const bool waits = waiting(holders) && time_now() < until;
    lock.lock();
    if (impl_->session != 0) break;
    if (!waits) {
      lock.unlock();
      release();
      return fail(ErrorCode::kUnavailable, "{}: it is used by {}", name_and_address(impl_->config),
                  holders.empty() ? "others" : control::to_string(holders));
    }
    impl_->changed.wait_for(lock, kAsking,
                            [this] { return impl_->session != 0 || impl_->ended || impl_->loss; });
  }
  if (impl_->loss) return tl::unexpected(*impl_->loss);
  if (impl_->session == 0) return tl::unexpected(*impl_->ended);
  return impl_->term;
}

void Session::release() { impl_->end(); }

Expected<std::uint64_t> Session::number() {
  std::unique_lock lock(impl_->mutex);
  impl_->begin();
  // After its end the daemon says at the next call why.
  if (impl_->ended && impl_->session != 0 && !impl_->loss) return impl_->session;
  PARETO_TRY(impl_->wait_for_answer(lock));
  if (impl_->session != 0) return impl_->session;
  return fail(ErrorCode::kUnavailable, "{}: it is used by others", name_and_address(impl_->config));
}

std::uint64_t Session::known() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->session;
}

std::optional<Error> Session::loss() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->loss;
}

void Session::abandon() {
  const std::lock_guard lock(impl_->mutex);
  impl_->abandoned = true;
  if (impl_->attending) impl_->attending->context.TryCancel();
  impl_->changed.notify_all();
}

}  // namespace pareto::cluster
