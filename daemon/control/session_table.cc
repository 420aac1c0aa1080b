#include "daemon/control/session_table.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>

#include "core/base/counted.h"

namespace pareto::daemon {

Expected<std::uint64_t> SessionTable::begin(std::function<void()> cancel) {
  const std::lock_guard lock(mutex_);
  if (closing_) return fail(ErrorCode::kClosed, "the daemon is ending");
  std::uint64_t number = 0;
  while (number == 0 || sessions_.contains(number)) number = numbers_();
  sessions_[number].cancel = std::move(cancel);
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

void SessionTable::cancel_all() {
  const std::lock_guard lock(mutex_);
  closing_ = true;
  for (const auto& [id, session] : sessions_) session.cancel();
}

Expected<> SessionTable::check(std::uint64_t session) const {
  const std::lock_guard lock(mutex_);
  return check_locked(session);
}

Expected<> SessionTable::check_locked(std::uint64_t session) const {
  if (session == 0 || sessions_.contains(session)) return {};
  return fail(
      ErrorCode::kUnavailable,
      "the session with this coordinator has ended (the daemon restarted, or the connection "
      "was lost): connect again");
}

Expected<> SessionTable::hold_shard(std::uint64_t session, const std::string& handle) {
  const std::lock_guard lock(mutex_);
  PARETO_TRY(check_locked(session));
  if (session != 0) sessions_[session].shards.push_back(handle);
  return {};
}

Expected<> SessionTable::hold_stage(std::uint64_t session, std::uint64_t pipeline,
                                    std::uint32_t stage) {
  const std::lock_guard lock(mutex_);
  PARETO_TRY(check_locked(session));
  if (session != 0) sessions_[session].stages.emplace_back(pipeline, stage);
  return {};
}

Expected<> SessionTable::release_shard(std::uint64_t session, const std::string& handle) {
  if (session == 0) return {};
  const std::lock_guard lock(mutex_);
  if (const auto found = sessions_.find(session); found != sessions_.end()) {
    std::vector<std::string>& shards = found->second.shards;
    if (const auto held = std::ranges::find(shards, handle); held != shards.end()) {
      shards.erase(held);
      return {};
    }
  }
  return fail(ErrorCode::kNotFound, "this coordinator has loaded no shard \"{}\"", handle);
}

void SessionTable::release_stage(std::uint64_t pipeline, std::uint32_t stage) {
  const std::lock_guard lock(mutex_);
  for (auto& [id, session] : sessions_) std::erase(session.stages, StageKey(pipeline, stage));
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
