#include "tests/bench/wires.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "coordinator/cluster/process.h"
#include "core/base/file.h"
#include "core/tls/credentials.h"
#include "core/transport/transport.h"
#include "tests/bench/bare_link.h"
#include "tests/bench/interleaved.h"
#include "tests/support/tls.h"

namespace pareto::bench {
namespace {

using transport::Link;

Nanoseconds since(TimePoint start) { return std::chrono::steady_clock::now() - start; }

class LinkWire final : public Wire {
 public:
  LinkWire(std::unique_ptr<Link> link, Tensor tensor) : link_(std::move(link)) {
    message_.body = Value(std::move(tensor));
  }
  Expected<> send(Order order) override {
    message_.sequence = static_cast<std::uint32_t>(order);
    PARETO_TRY(link_->send(message_));
    return {};
  }
  Expected<> receive() override {
    PARETO_TRY(link_->receive());
    return {};
  }
  Expected<Nanoseconds> report() override {
    wire::Message question;
    question.sequence = static_cast<std::uint32_t>(Order::kReport);
    PARETO_TRY(link_->send(question));
    PARETO_ASSIGN(const auto answer, link_->receive());
    const auto* spent = answer.message.body.get_if<std::int64_t>();
    if (spent == nullptr) return fail(ErrorCode::kInternal, "the peer's report is none");
    return Nanoseconds(*spent) + processor_time();
  }

 private:
  std::unique_ptr<Link> link_;
  wire::Message message_;
};

class BareWire final : public Wire {
 public:
  BareWire(BareLink link, Tensor tensor) : link_(std::move(link)), tensor_(std::move(tensor)) {}
  Expected<> send(Order order) override { return link_.send(order, tensor_.bytes()); }
  Expected<> receive() override {
    PARETO_TRY(link_.receive());
    return {};
  }
  Expected<Nanoseconds> report() override {
    PARETO_TRY(link_.send(Order::kReport, {}));
    PARETO_TRY(link_.receive());
    std::int64_t spent = 0;
    std::memcpy(&spent, link_.body().data(), sizeof(spent));
    return Nanoseconds(spent) + processor_time();
  }

 private:
  BareLink link_;
  Tensor tensor_;
};

/// The wire that shared memory cannot beat: one memcpy on each way, each by another core, which
/// slept until then and finds the bytes in the cache of the one that wrote them.
class CopyWire final : public Wire {
 public:
  CopyWire(Tensor tensor, int other_cpu)
      : here_(std::move(tensor)), there_(here_.size_bytes()), back_(here_.size_bytes()) {
    other_ = std::jthread([this, other_cpu](const std::stop_token& stop) {
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(other_cpu, &set);
      sched_setaffinity(0, sizeof(set), &set);
      for (int round = 0;; ++round) {
        asked_.wait(round);
        if (stop.stop_requested()) return;
        std::memcpy(back_.data(), there_.data(), there_.size());
        tell(answered_);
      }
    });
  }
  ~CopyWire() override {
    other_.request_stop();
    tell(asked_);
  }
  Expected<> send(Order order) override {
    std::memcpy(there_.data(), here_.bytes().data(), there_.size());
    if (order == Order::kEcho) tell(asked_);
    return {};
  }
  Expected<> receive() override {
    answered_.wait(received_++);
    return {};
  }
  Expected<Nanoseconds> report() override { return processor_time(); }

 private:
  static void tell(std::atomic<int>& counter) {
    ++counter;
    counter.notify_one();
  }

  Tensor here_;
  std::vector<std::byte> there_;
  std::vector<std::byte> back_;
  std::atomic<int> asked_{0};
  std::atomic<int> answered_{0};
  int received_ = 0;
  std::jthread other_;
};

/// A wire with its two ends on a core each, if there are two.
class Pinned {
 public:
  Pinned() {
    sched_getaffinity(0, sizeof(before_), &before_);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &before_)) cpus_.push_back(cpu);
    }
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(cpus_.front(), &first);
    sched_setaffinity(0, sizeof(first), &first);
  }
  ~Pinned() { sched_setaffinity(0, sizeof(before_), &before_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  int peers_cpu() const { return cpus_.back(); }

 private:
  cpu_set_t before_{};
  std::vector<int> cpus_;
};

}  // namespace

struct WirePeer::Impl {
  Pinned pinned;
  std::unique_ptr<TemporaryFolder> folder;
  std::shared_ptr<const tls::Credentials> credentials;
  std::unique_ptr<cluster::ChildProcess> child;
  nlohmann::json addresses;
};

WirePeer::WirePeer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WirePeer::~WirePeer() = default;

Expected<std::unique_ptr<WirePeer>> WirePeer::start() {
  auto impl = std::make_unique<Impl>();
  PARETO_ASSIGN(TemporaryFolder folder, TemporaryFolder::create("pareto-bench"));
  impl->folder = std::make_unique<TemporaryFolder>(std::move(folder));
  const test::TestAuthority authority(impl->folder->path(), "authority");
  PARETO_ASSIGN(impl->credentials,
                tls::Credentials::open(authority.credentials({"bench", tls::Role::kCoordinator})));
  const std::string theirs = authority.credentials({"peer", tls::Role::kDevice});
  PARETO_ASSIGN(
      cluster::ChildProcess child,
      cluster::ChildProcess::start(
          "/proc/self/exe",
          {"wire-peer", "--cpu", std::to_string(impl->pinned.peers_cpu()), "--credentials", theirs},
          impl->folder->path() / "log"));
  impl->child = std::make_unique<cluster::ChildProcess>(std::move(child));
  PARETO_ASSIGN(const std::string line,
                impl->child->wait_ready(deadline_after(std::chrono::seconds(30))));
  impl->addresses = nlohmann::json::parse(line);
  return std::unique_ptr<WirePeer>(new WirePeer(std::move(impl)));
}

Expected<std::unique_ptr<Wire>> WirePeer::wire(const std::string& transport, std::int64_t bytes,
                                               const WireOptions& options) {
  PARETO_ASSIGN(Tensor tensor, Tensor::allocate(DType::kUInt8, {bytes}));
  // Pages that were never written are all one page of zeros.
  std::memset(tensor.mutable_bytes().data(), 1, tensor.size_bytes());
  if (transport == "copy") {
    return std::make_unique<CopyWire>(std::move(tensor), impl_->pinned.peers_cpu());
  }
  if (transport == "bare") {
    PARETO_ASSIGN(BareLink link, BareLink::connect(impl_->addresses["bare"].get<std::uint16_t>()));
    return std::make_unique<BareWire>(std::move(link), std::move(tensor));
  }
  transport::LinkOptions terms{.payload_checksum = options.checksum};
  if (options.secured) terms.credentials = impl_->credentials;
  PARETO_ASSIGN(const auto made, transport::make_transport(transport));
  PARETO_ASSIGN(
      auto link,
      made->connect(
          impl_->addresses[options.secured ? "tls/" + transport : transport].get<std::string>(),
          deadline_after(std::chrono::seconds(10)), terms));
  return std::make_unique<LinkWire>(std::move(link), std::move(tensor));
}

int messages_of(std::int64_t bytes, std::int64_t total) {
  return static_cast<int>(std::clamp<std::int64_t>(total / bytes, 3, 200));
}

Expected<> round_trips(Wire& wire, int count, std::vector<double>& samples) {
  for (int i = 0; i < count; ++i) {
    const TimePoint start = std::chrono::steady_clock::now();
    PARETO_TRY(wire.send(Order::kEcho));
    PARETO_TRY(wire.receive());
    samples.push_back(to_milliseconds(since(start)) * 1e3);
  }
  return {};
}

Expected<Stream> stream(Wire& wire, int count) {
  PARETO_ASSIGN(const Nanoseconds spent, wire.report());
  const TimePoint start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) PARETO_TRY(wire.send(Order::kTake));
  PARETO_ASSIGN(const Nanoseconds spent_then, wire.report());
  return Stream{to_milliseconds(since(start)) / 1e3, to_milliseconds(spent_then - spent) / 1e3};
}

}  // namespace pareto::bench
