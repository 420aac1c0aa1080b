#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "coordinator/cluster/process.h"
#include "coordinator/statistics/statistics.h"
#include "core/base/file.h"
#include "core/transport/transport.h"
#include "tests/bench/bare_link.h"
#include "tests/bench/benches.h"
#include "tests/bench/interleaved.h"
#include "tests/bench/wire_peer.h"

namespace pareto::bench {
namespace {

using transport::Link;

struct Size {
  const char* name;
  std::int64_t bytes;
};
constexpr Size kSizes[] = {{"1KB", 1 << 10},     {"16KB", 16 << 10}, {"150KB", 150 << 10},
                           {"600KB", 600 << 10}, {"4MB", 4 << 20},   {"13MB", 13 << 20}};
constexpr int kTransportRounds = 15;

Nanoseconds elapsed_since(TimePoint start) { return std::chrono::steady_clock::now() - start; }

/// One way to move a tensor's bytes to the peer and back. Threads: one owner.
class Wire {
 public:
  virtual ~Wire() = default;
  virtual Expected<> send(Order order) = 0;
  virtual Expected<> receive() = 0;
  /// Once everything sent before has arrived: processor time that both ends have spent since they
  /// began.
  virtual Expected<Nanoseconds> report() = 0;
};

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

/// This process's end, the peer, and a wire of each kind between them.
class Peer {
 public:
  static Expected<std::unique_ptr<Peer>> start() {
    std::unique_ptr<Peer> peer(new Peer);
    PARETO_ASSIGN(TemporaryFolder folder, TemporaryFolder::create("pareto-bench"));
    peer->folder_ = std::make_unique<TemporaryFolder>(std::move(folder));
    PARETO_ASSIGN(
        cluster::ChildProcess child,
        cluster::ChildProcess::start(
            "/proc/self/exe", {"wire-peer", "--cpu", std::to_string(peer->pinned_.peers_cpu())},
            peer->folder_->path() / "log"));
    peer->child_ = std::make_unique<cluster::ChildProcess>(std::move(child));
    PARETO_ASSIGN(const std::string line,
                  peer->child_->wait_ready(deadline_after(std::chrono::seconds(30))));
    peer->addresses_ = nlohmann::json::parse(line);
    return peer;
  }

  Expected<std::unique_ptr<Wire>> wire(const std::string& transport, std::int64_t bytes,
                                       bool checksum = false) {
    const transport::LinkOptions options{.payload_checksum = checksum};
    PARETO_ASSIGN(Tensor tensor, Tensor::allocate(DType::kUInt8, {bytes}));
    // Pages that were never written are all one page of zeros.
    std::memset(tensor.mutable_bytes().data(), 1, tensor.size_bytes());
    if (transport == "copy")
      return std::make_unique<CopyWire>(std::move(tensor), pinned_.peers_cpu());
    if (transport == "bare") {
      PARETO_ASSIGN(BareLink link, BareLink::connect(addresses_["bare"].get<std::uint16_t>()));
      return std::make_unique<BareWire>(std::move(link), std::move(tensor));
    }
    PARETO_ASSIGN(const auto made, transport::make_transport(transport));
    PARETO_ASSIGN(auto link, made->connect(addresses_[transport].get<std::string>(),
                                           deadline_after(std::chrono::seconds(10)), options));
    return std::make_unique<LinkWire>(std::move(link), std::move(tensor));
  }

 private:
  Peer() = default;
  Pinned pinned_;
  std::unique_ptr<TemporaryFolder> folder_;
  std::unique_ptr<cluster::ChildProcess> child_;
  nlohmann::json addresses_;
};

int messages_of(std::int64_t bytes, std::int64_t total) {
  return static_cast<int>(std::clamp<std::int64_t>(total / bytes, 3, 200));
}

/// Round trips, in microseconds.
Expected<> round_trips(Wire& wire, int count, std::vector<double>& samples) {
  for (int i = 0; i < count; ++i) {
    const TimePoint start = std::chrono::steady_clock::now();
    PARETO_TRY(wire.send(Order::kEcho));
    PARETO_TRY(wire.receive());
    samples.push_back(to_milliseconds(elapsed_since(start)) * 1e3);
  }
  return {};
}

struct Stream {
  double seconds = 0;
  double processor_seconds = 0;
};

Expected<Stream> stream(Wire& wire, int count) {
  PARETO_ASSIGN(const Nanoseconds spent, wire.report());
  const TimePoint start = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) PARETO_TRY(wire.send(Order::kTake));
  PARETO_ASSIGN(const Nanoseconds spent_then, wire.report());
  return Stream{to_milliseconds(elapsed_since(start)) / 1e3,
                to_milliseconds(spent_then - spent) / 1e3};
}

std::string reference_of(const std::string& transport) {
  return transport == "shm" ? "copy" : "bare";
}

template <typename Measure>
Expected<std::vector<Row>> for_every_size(const std::string& transport, Measure measure) {
  PARETO_ASSIGN(const auto peer, Peer::start());
  std::vector<Row> rows;
  for (const Size& size : kSizes) {
    PARETO_ASSIGN(const auto ours, peer->wire(transport, size.bytes));
    PARETO_ASSIGN(const auto reference, peer->wire(reference_of(transport), size.bytes));
    PARETO_TRY(measure(size, *ours, *reference, rows));
  }
  return rows;
}

}  // namespace

Expected<std::vector<Row>> transport_latency(const std::string& name,
                                             const std::string& transport) {
  const auto measure = [&](const Size& size, Wire& ours, Wire& reference,
                           std::vector<Row>& rows) -> Expected<> {
    const int count = messages_of(size.bytes, 4 << 20);
    std::vector<double> times;
    std::vector<double> bare;
    for (int round = 0; round <= kTransportRounds; ++round) {
      if (round == 1) {  // the first was the warm-up
        times.clear();
        bare.clear();
      }
      PARETO_TRY(round_trips(ours, count, times));
      PARETO_TRY(round_trips(reference, count, bare));
    }
    const double one_way = statistics::median(times) / 2;
    const double bare_one_way = statistics::median(bare) / 2;
    Row row;
    row.name = name + "/" + size.name;
    row.ratio = one_way / bare_one_way;
    if (transport == "shm" && size.bytes == 4 << 20) row.bar = 1.2;
    row.detail = fmt::format("{:.1f} us one way / {:.1f} us {}", one_way, bare_one_way,
                             reference_of(transport));
    rows.push_back(row);
    if (transport == "tcp" && size.bytes == 1 << 10) {
      rows.push_back({"overhead_us/tcp/1KB", one_way - bare_one_way, 20, false,
                      "one way, beyond the bare socket"});
    }
    return {};
  };
  return for_every_size(transport, measure);
}

Expected<std::vector<Row>> transport_goodput(const std::string& name,
                                             const std::string& transport) {
  const auto measure = [&](const Size& size, Wire& ours, Wire& reference,
                           std::vector<Row>& rows) -> Expected<> {
    const int count = messages_of(size.bytes, 64 << 20);
    const double bytes = static_cast<double>(count) * static_cast<double>(size.bytes);
    std::vector<double> ratios;
    std::vector<double> speeds;
    std::vector<double> processor;
    std::vector<double> bare_processor;
    for (int round = 0; round <= kTransportRounds; ++round) {
      PARETO_ASSIGN(const Stream mine, stream(ours, count));
      PARETO_ASSIGN(const Stream bare, stream(reference, count));
      if (round == 0) continue;
      ratios.push_back(bare.seconds / mine.seconds);
      speeds.push_back(bytes / mine.seconds / 1e9);
      processor.push_back(mine.processor_seconds * 1e9 / bytes);
      bare_processor.push_back(bare.processor_seconds * 1e9 / bytes);
    }
    Row row;
    row.name = name + "/" + size.name;
    row.ratio = statistics::median(ratios);
    row.at_least = true;
    if (transport == "tcp" && size.bytes >= 256 << 10) row.bar = 0.97;
    row.detail = fmt::format("{:.2f} GB/s; {:.3f} ns of CPU a byte, {} {:.3f}",
                             statistics::median(speeds), statistics::median(processor),
                             reference_of(transport), statistics::median(bare_processor));
    rows.push_back(row);
    return {};
  };
  return for_every_size(transport, measure);
}

Expected<std::vector<Row>> checksum_cost(const std::string& name, const std::string& transport) {
  PARETO_ASSIGN(const auto peer, Peer::start());
  std::vector<Row> rows;
  for (const Size& size : kSizes) {
    PARETO_ASSIGN(const auto with, peer->wire(transport, size.bytes, true));
    PARETO_ASSIGN(const auto without, peer->wire(transport, size.bytes));
    const int count = messages_of(size.bytes, 64 << 20);
    std::vector<double> ratios;
    std::vector<double> costs;
    for (int round = 0; round <= kTransportRounds; ++round) {
      PARETO_ASSIGN(const Stream summed, stream(*with, count));
      PARETO_ASSIGN(const Stream plain, stream(*without, count));
      if (round == 0) continue;
      ratios.push_back(plain.seconds / summed.seconds);
      costs.push_back((summed.processor_seconds - plain.processor_seconds) * 1e9 /
                      (static_cast<double>(count) * static_cast<double>(size.bytes)));
    }
    Row row;
    row.name = name + "/" + size.name;
    row.ratio = statistics::median(ratios);
    row.at_least = true;
    row.detail = fmt::format("of the goodput without; {:.3f} ns of CPU a byte, both ends",
                             statistics::median(costs));
    rows.push_back(row);
  }
  return rows;
}

Expected<std::vector<Row>> grpc_over_tcp(const std::string& name) {
  constexpr std::int64_t kBytes = 4 << 20;
  constexpr int kMessages = 16;
  PARETO_ASSIGN(const auto peer, Peer::start());
  PARETO_ASSIGN(const auto grpc, peer->wire("grpc", kBytes));
  PARETO_ASSIGN(const auto tcp, peer->wire("tcp", kBytes));
  std::vector<double> speeds;
  std::vector<double> costs;
  std::vector<double> grpc_costs;
  std::vector<double> tcp_costs;
  for (int round = 0; round <= kTransportRounds; ++round) {
    PARETO_ASSIGN(const Stream ours, stream(*grpc, kMessages));
    PARETO_ASSIGN(const Stream reference, stream(*tcp, kMessages));
    if (round == 0) continue;
    speeds.push_back(reference.seconds / ours.seconds);
    costs.push_back(ours.processor_seconds / reference.processor_seconds);
    constexpr double kPerByte = 1e9 / (kMessages * static_cast<double>(kBytes));
    grpc_costs.push_back(ours.processor_seconds * kPerByte);
    tcp_costs.push_back(reference.processor_seconds * kPerByte);
  }
  Row cost;
  cost.name = name + "/cpu_per_byte/4MB";
  cost.ratio = statistics::median(costs);
  cost.detail = fmt::format("{:.3f} ns / {:.3f} ns, both ends", statistics::median(grpc_costs),
                            statistics::median(tcp_costs));
  return std::vector<Row>{
      {name + "/goodput/4MB", statistics::median(speeds), 0.5, true, "one-way stream"}, cost};
}

}  // namespace pareto::bench
