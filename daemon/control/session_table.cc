#include "daemon/control/session_table.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <set>

#include "core/base/counted.h"

namespace pareto::daemon {
namespace {

/// Returns what others are told of a coordinator. A certificate says more than it says itself.
control::Holder holder_of(const Caller& owner, const control::DeviceUse& use, Nanoseconds since) {
  const std::string who = owner.identity || use.user.empty() ? owner.name() : use.user;
  return {who, use.command, use.exclusive, since, use.lease, use.term};
}

bool is_too_long(const std::string& peer) { return peer.size() > SessionTable::kLongestPeer; }

}  // namespace

Expected<std::uint64_t> SessionTable::begin(const Caller& owner, std::function<void()> cancel) {
  const std::lock_guard lock(mutex_);
  if (closing_) return fail(ErrorCode::kClosed, "the daemon is ending");
  const auto same = std::ranges::count_if(
      sessions_, [&](const auto& entry) { return entry.second.owner.name() == owner.name(); });
  if (sessions_.size() >= kMostSessions || static_cast<std::size_t>(same) >= kMostSessionsOfOne) {
    return fail(ErrorCode::kExhausted,
                "{} are open here, {} of them yours; at most {} and {}: end some of the programs "
                "that use this device",
                counted(sessions_.size(), "session"), same, kMostSessions, kMostSessionsOfOne);
  }
  std::uint64_t number = 0;
  while (number == 0 || sessions_.contains(number)) {
    number = (std::uint64_t{numbers_()} << 32) | numbers_();
  }
  Session session;
  session.owner = owner;
  session.cancel = std::move(cancel);
  sessions_.emplace(number, std::move(session));
  return number;
}

void SessionTable::end(std::uint64_t session) {
  Session ended;
  {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(session);
    if (found == sessions_.end()) return;
    ended = std::move(found->second);
    sessions_.erase(found);
    if (!ended.why.empty()) ended_.emplace_back(session, ended.why);
    if (ended_.size() > kMostEnded) ended_.pop_front();
  }
  // What is gone already needs no undoing.
  for (const auto& [pipeline, stage] : ended.stages) {
    static_cast<void>(stages_.close(pipeline, stage));
  }
  for (const std::string& shard : ended.shards) static_cast<void>(shards_.unload(shard));
  if (!ended.stages.empty() || !ended.shards.empty()) {
    spdlog::info("{}: closed {}, unloaded {}",
                 ended.why.empty() ? "a coordinator left" : ended.owner.name() + ": " + ended.why,
                 counted(ended.stages.size(), "stage"), counted(ended.shards.size(), "shard"));
  }
}

void SessionTable::cancel_if(const std::function<bool(const Caller&)>& is_such) {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, session] : sessions_) {
    if (is_such(session.owner)) session.cancel();
  }
}

void SessionTable::cancel_all() {
  const std::lock_guard lock(mutex_);
  closing_ = true;
  for (const auto& [id, session] : sessions_) session.cancel();
}

Expected<const SessionTable::Session*> SessionTable::find(std::uint64_t session) const {
  const auto found = sessions_.find(session);
  if (found != sessions_.end()) return &found->second;
  const auto ended = std::ranges::find(ended_, session, [](const auto& one) { return one.first; });
  if (ended != ended_.end()) {
    return fail(ErrorCode::kUnavailable,
                "the session with this coordinator has ended, because {}: connect again",
                ended->second);
  }
  return fail(ErrorCode::kUnavailable, "{}",
              session == 0
                  ? "this call belongs to no session: begin one with Attend"
                  : "the session with this coordinator has ended (the daemon restarted, or "
                    "the connection was lost): connect again");
}

Expected<SessionTable::Session*> SessionTable::find(std::uint64_t session) {
  PARETO_ASSIGN(const Session* const found, std::as_const(*this).find(session));
  return const_cast<Session*>(found);
}

Expected<> SessionTable::check(std::uint64_t session, const Caller& caller) const {
  const std::lock_guard lock(mutex_);
  PARETO_ASSIGN(const Session* const found, find(session));
  // A host may change its address; a certificate names the same one for ever.
  if (found->owner.identity == caller.identity) return {};
  return fail(ErrorCode::kPermission, "this session is another coordinator's");
}

Expected<> SessionTable::check_not_excluded(const Caller& caller) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, session] : sessions_) {
    if (!session.granted || !session.use->exclusive || session.owner.identity == caller.identity) {
      continue;
    }
    return fail(ErrorCode::kUnavailable, "it is used by {}, exclusively", session.owner.name());
  }
  return {};
}

Expected<SessionTable::Turn> SessionTable::attend(std::uint64_t session, Attendance said,
                                                  TimePoint now) {
  const std::lock_guard lock(mutex_);
  PARETO_ASSIGN(Session* const found, find(session));
  if (said.peers.size() > kMostPeers) {
    return fail(ErrorCode::kExhausted, "{} addresses of devices, at most {}", said.peers.size(),
                kMostPeers);
  }
  const auto too_long = std::ranges::find_if(said.peers, is_too_long);
  if (too_long != said.peers.end()) {
    return fail(ErrorCode::kExhausted, "a device's address of {} bytes, at most {}",
                too_long->size(), kLongestPeer);
  }
  found->peers = {std::make_move_iterator(said.peers.begin()),
                  std::make_move_iterator(said.peers.end())};
  found->beats = said.beats;
  found->heard = now;
  found->lease = control::lease_for(said.slowest);
  PARETO_TRY(check_term(said.use));
  const bool is_new = !found->use;
  if (is_new) {
    found->order = next_order_++;
    found->since = now;
  }
  if (!found->granted || found->use != said.use) {
    Turn turn{false, before(session, *found, said.use, now), last_term(said.use.lease)};
    if (!turn.before.empty() && (!said.use.waits || found->granted)) {
      return fail(ErrorCode::kUnavailable, "it is used by {}", control::to_string(turn.before));
    }
    found->use = std::move(said.use);
    if (!turn.before.empty()) return turn;
    if (!found->granted) found->since = now;
    found->granted = true;
    begin_term(*found->use);
  }
  return Turn{true, {}, last_term(found->use->lease)};
}

Expected<> SessionTable::check_term(const control::DeviceUse& use) const {
  const auto last = terms_.find(use.lease);
  if (use.lease.empty() || use.term == 0 || last == terms_.end()) return {};
  const Term& known = last->second;
  const bool is_own = use.term == known.number && use.program == known.program;
  if (use.term > known.number || is_own) return {};
  return fail(ErrorCode::kPermission,
              "term {} of \"{}\" is over: another program has taken over with term {}", use.term,
              use.lease, known.number);
}

std::vector<control::Holder> SessionTable::before(std::uint64_t number, const Session& session,
                                                  const control::DeviceUse& use,
                                                  TimePoint now) const {
  std::vector<control::Holder> holders;
  for (const auto& [id, other] : sessions_) {
    if (id == number || !other.use) continue;
    const bool same_program = use.program != 0 && use.program == other.use->program;
    const bool same_lease = !use.lease.empty() && use.lease == other.use->lease;
    if (same_program || !(use.exclusive || other.use->exclusive || same_lease)) continue;
    // Those who only wait go before those who wait too and came later.
    if (!other.granted && (!use.waits || session.granted || session.order < other.order)) continue;
    holders.push_back(holder_of(other.owner, *other.use, now - other.since));
  }
  return holders;
}

void SessionTable::begin_term(const control::DeviceUse& use) {
  if (use.lease.empty() || use.term == 0) return;
  if (!terms_.contains(use.lease) && terms_.size() >= kMostTerms) {
    terms_.erase(
        std::ranges::min_element(terms_, {}, [](const auto& entry) { return entry.second.order; }));
  }
  terms_[use.lease] = {use.term, use.program, next_order_++};
}

std::uint64_t SessionTable::last_term(const std::string& lease) const {
  const auto found = terms_.find(lease);
  return found == terms_.end() ? 0 : found->second.number;
}

void SessionTable::judge(TimePoint now, Nanoseconds stood_still) {
  const std::lock_guard lock(mutex_);
  for (auto& [id, session] : sessions_) {
    // Beats that came meanwhile have not been read yet.
    session.heard = std::min(now, session.heard + stood_still);
    const Nanoseconds silent = now - session.heard;
    if (!session.beats || silent <= session.lease || !session.why.empty()) continue;
    session.why = fmt::format("it gave no sign of life for {:.1f} s", to_seconds(silent));
    session.cancel();
  }
}

std::vector<control::Holder> SessionTable::holders(std::uint64_t session, TimePoint now) const {
  const std::lock_guard lock(mutex_);
  const auto own = sessions_.find(session);
  const std::uint64_t program =
      own != sessions_.end() && own->second.use ? own->second.use->program : 0;
  std::vector<control::Holder> holders;
  for (const auto& [id, other] : sessions_) {
    if (id == session || !other.granted) continue;
    if (program != 0 && program == other.use->program) continue;
    holders.push_back(holder_of(other.owner, *other.use, now - other.since));
  }
  std::ranges::sort(holders, std::greater<>(), &control::Holder::since);
  return holders;
}

Expected<> SessionTable::check_peer(std::uint64_t session, const std::string& address) const {
  const std::lock_guard lock(mutex_);
  PARETO_ASSIGN(const Session* const found, find(session));
  if (found->peers.contains(address)) return {};
  return fail(ErrorCode::kPermission,
              "{} is none of the devices that this coordinator named: links are opened to devices "
              "of its inventory only",
              address);
}

Expected<> SessionTable::hold_shard(std::uint64_t session, const std::string& handle) {
  const std::lock_guard lock(mutex_);
  PARETO_ASSIGN(Session* const found, find(session));
  if (found->shards.size() >= kMostShards) {
    return fail(ErrorCode::kExhausted, "this coordinator has loaded {} shards here, the limit",
                kMostShards);
  }
  found->shards.push_back(handle);
  return {};
}

Expected<> SessionTable::release_shard(std::uint64_t session, const std::string& handle) {
  const std::lock_guard lock(mutex_);
  PARETO_TRY(check_shard_locked(session, handle));
  PARETO_ASSIGN(Session* const found, find(session));
  found->shards.erase(std::ranges::find(found->shards, handle));
  return {};
}

Expected<> SessionTable::check_shard(std::uint64_t session, const std::string& handle) const {
  const std::lock_guard lock(mutex_);
  return check_shard_locked(session, handle);
}

Expected<> SessionTable::check_shard_locked(std::uint64_t session,
                                            const std::string& handle) const {
  PARETO_ASSIGN(const Session* const found, find(session));
  const auto holds = [&](const Session& one) {
    return std::ranges::find(one.shards, handle) != one.shards.end();
  };
  if (holds(*found)) return {};
  if (std::ranges::any_of(sessions_, [&](const auto& entry) { return holds(entry.second); })) {
    return fail(ErrorCode::kPermission, "shard \"{}\" is another coordinator's", handle);
  }
  return fail(ErrorCode::kNotFound, "this coordinator has loaded no shard \"{}\"", handle);
}

Expected<> SessionTable::hold_stage(std::uint64_t session, std::uint64_t pipeline,
                                    std::uint32_t stage) {
  const std::lock_guard lock(mutex_);
  PARETO_ASSIGN(Session* const found, find(session));
  if (found->stages.size() >= kMostStages) {
    return fail(ErrorCode::kExhausted, "this coordinator has opened {} stages here, the limit",
                kMostStages);
  }
  found->stages.emplace(pipeline, stage);
  return {};
}

void SessionTable::release_stage(std::uint64_t session, std::uint64_t pipeline,
                                 std::uint32_t stage) {
  const std::lock_guard lock(mutex_);
  if (const auto found = sessions_.find(session); found != sessions_.end()) {
    found->second.stages.erase({pipeline, stage});
  }
}

Expected<> SessionTable::check_stage(std::uint64_t session, std::uint64_t pipeline,
                                     std::uint32_t stage) const {
  const std::lock_guard lock(mutex_);
  PARETO_ASSIGN(const Session* const found, find(session));
  const StageKey key(pipeline, stage);
  if (found->stages.contains(key)) return {};
  if (std::ranges::any_of(sessions_,
                          [&](const auto& entry) { return entry.second.stages.contains(key); })) {
    return fail(ErrorCode::kPermission, "stage {} of that pipeline is another coordinator's",
                stage);
  }
  return fail(ErrorCode::kNotFound, "no stage {} of pipeline {:016x}", stage, pipeline);
}

SessionTable::Holdings SessionTable::holdings(std::uint64_t session) const {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return {};
  const Session& one = found->second;
  return {{one.shards.begin(), one.shards.end()}, one.stages};
}

SessionTable::Company SessionTable::company(std::uint64_t session) const {
  const std::lock_guard lock(mutex_);
  Company company;
  std::set<std::uint64_t> pipelines;
  for (const auto& [number, other] : sessions_) {
    if (number == session || other.stages.empty()) continue;
    ++company.coordinators;
    for (const auto& [pipeline, stage] : other.stages) pipelines.insert(pipeline);
  }
  company.pipelines = static_cast<std::uint32_t>(pipelines.size());
  return company;
}

}  // namespace pareto::daemon
