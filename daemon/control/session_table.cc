#include "daemon/control/session_table.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>

#include "core/base/counted.h"

namespace pareto::daemon {

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
  Session& session = sessions_[number];
  session.owner = owner;
  session.cancel = std::move(cancel);
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
  }
  // What is gone already needs no undoing.
  for (const auto& [pipeline, stage] : ended.stages) {
    static_cast<void>(stages_.close(pipeline, stage));
  }
  for (const std::string& shard : ended.shards) static_cast<void>(shards_.unload(shard));
  if (!ended.stages.empty() || !ended.shards.empty()) {
    spdlog::info("a coordinator left: closed {}, unloaded {}",
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

Expected<> SessionTable::name_peers(std::uint64_t session, std::vector<std::string> addresses) {
  const std::lock_guard lock(mutex_);
  PARETO_ASSIGN(Session* const found, find(session));
  if (addresses.size() > kMostPeers) {
    return fail(ErrorCode::kExhausted, "{} addresses of devices, at most {}", addresses.size(),
                kMostPeers);
  }
  found->peers = {std::make_move_iterator(addresses.begin()),
                  std::make_move_iterator(addresses.end())};
  return {};
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
