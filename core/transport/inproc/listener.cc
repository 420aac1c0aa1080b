#include "core/transport/inproc/listener.h"

namespace pareto::transport::inproc {

Expected<std::string> Registry::add(std::string name, const std::shared_ptr<Backlog>& backlog) {
  const std::lock_guard lock(mutex_);
  const bool any = name.empty();
  while (name.empty() || (any && listeners_.contains(name))) {
    name = fmt::format("#{}", ++names_given_);
  }
  if (!listeners_.emplace(name, backlog).second) {
    return fail(ErrorCode::kPermission, "the name \"{}\" is in use: choose another, or \"\"", name);
  }
  return name;
}

void Registry::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  listeners_.erase(name);
}

std::shared_ptr<Backlog> Registry::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = listeners_.find(name);
  return found == listeners_.end() ? nullptr : found->second;
}

InprocListener::InprocListener(std::shared_ptr<Registry> registry, std::shared_ptr<Backlog> backlog,
                               std::string name)
    : registry_(std::move(registry)), backlog_(std::move(backlog)), name_(std::move(name)) {}

InprocListener::~InprocListener() { close(); }

Expected<std::unique_ptr<Link>> InprocListener::accept(Deadline deadline) {
  if (closed_) return fail(ErrorCode::kClosed, "inproc {}: the listener is closed", name_);
  return with_context(backlog_->waiting.pop(deadline), "inproc {}: accepting", name_);
}

void InprocListener::close() {
  if (closed_.exchange(true)) return;
  registry_->remove(name_);
  backlog_->waiting.close();
  // Ends that nobody will accept any more: dropping them tells the ends that connected.
  while (backlog_->waiting.pop(std::chrono::steady_clock::now())) {
  }
}

}  // namespace pareto::transport::inproc
