#include "coordinator/cluster/turn_links.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace pareto::cluster {
namespace {

using wire::MessageKind;

/// More than anybody keeps in flight.
constexpr std::size_t kMostDue = 1 << 20;

std::string peers(const std::vector<ReplicaLinks>& replicas, transport::Link* ReplicaLinks::*link) {
  std::string text = "in turns";
  for (const ReplicaLinks& replica : replicas) text += " " + (replica.*link)->peer();
  return text;
}

transport::PeerIdentity identities(const std::vector<ReplicaLinks>& replicas,
                                   transport::Link* ReplicaLinks::*link) {
  transport::PeerIdentity all{"in turns", true};
  for (const ReplicaLinks& replica : replicas) {
    const transport::PeerIdentity one = (replica.*link)->identity();
    all.name += " " + one.name;
    all.authenticated = all.authenticated && one.authenticated;
  }
  return all;
}

bool any_is_silent(const std::vector<ReplicaLinks>& replicas,
                   transport::Link* ReplicaLinks::*link) {
  return std::ranges::any_of(
      replicas, [&](const ReplicaLinks& replica) { return (replica.*link)->is_silent(); });
}

}  // namespace

class TurnLinks::Source final : public transport::Link {
 public:
  explicit Source(TurnLinks& turns) : turns_(turns) {}

  Expected<transport::Sent> send(const wire::Message& message, Deadline deadline) override {
    const std::vector<ReplicaLinks>& replicas = turns_.replicas_;
    wire::Message own = message;
    if (message.kind != MessageKind::kEnd) {
      const std::size_t replica = message.request % replicas.size();
      // A link's requests count up by one.
      own.request = message.request / replicas.size();
      own.pipeline = replicas[replica].pipeline;
      // A message that a link refuses has no result.
      PARETO_ASSIGN(const transport::Sent sent, replicas[replica].source->send(own, deadline));
      PARETO_TRY(turns_.due_.push(replica, deadline));
      return sent;
    }
    transport::Sent all;
    for (const ReplicaLinks& replica : replicas) {
      own.pipeline = replica.pipeline;
      PARETO_ASSIGN(const transport::Sent sent, replica.source->send(own, deadline));
      all += sent;
    }
    return all;
  }
  Expected<transport::Received> receive(Deadline /*deadline*/) override {
    return fail(ErrorCode::kClosed, "nothing comes from a source");
  }
  void close() override {
    for (const ReplicaLinks& replica : turns_.replicas_) replica.source->close();
  }
  bool is_silent() const override { return any_is_silent(turns_.replicas_, &ReplicaLinks::source); }
  std::string peer() const override { return peers(turns_.replicas_, &ReplicaLinks::source); }
  transport::PeerIdentity identity() const override {
    return identities(turns_.replicas_, &ReplicaLinks::source);
  }

 private:
  TurnLinks& turns_;
};

class TurnLinks::Sink final : public transport::Link {
 public:
  explicit Sink(TurnLinks& turns) : turns_(turns) {}

  Expected<transport::Sent> send(const wire::Message& /*message*/, Deadline /*deadline*/) override {
    return fail(ErrorCode::kClosed, "nothing goes to a sink");
  }
  Expected<transport::Received> receive(Deadline deadline) override {
    if (!replica_) {
      PARETO_ASSIGN(replica_, turns_.due_.pop(deadline));
    }
    const std::size_t turn = turns_.replicas_.size();
    auto received = turns_.replicas_[*replica_].sink->receive(deadline);
    if (received) received->message.request = received->message.request * turn + *replica_;
    // The parts of a result come one after the other.
    if (received && received->message.kind != MessageKind::kPart) replica_.reset();
    return received;
  }
  void close() override {
    turns_.due_.close();
    for (const ReplicaLinks& replica : turns_.replicas_) replica.sink->close();
  }
  bool is_silent() const override { return any_is_silent(turns_.replicas_, &ReplicaLinks::sink); }
  std::string peer() const override { return peers(turns_.replicas_, &ReplicaLinks::sink); }
  transport::PeerIdentity identity() const override {
    return identities(turns_.replicas_, &ReplicaLinks::sink);
  }

 private:
  TurnLinks& turns_;
  std::optional<std::size_t> replica_;  ///< replica whose result has begun, or is waited for
};

TurnLinks::TurnLinks(std::vector<ReplicaLinks> replicas)
    : replicas_(std::move(replicas)),
      due_(kMostDue),
      source_(std::make_unique<Source>(*this)),
      sink_(std::make_unique<Sink>(*this)) {}

TurnLinks::~TurnLinks() = default;

transport::Link& TurnLinks::source() { return *source_; }
transport::Link& TurnLinks::sink() { return *sink_; }

}  // namespace pareto::cluster
