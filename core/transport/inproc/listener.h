// Names inside a process, and who accepts there.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/bounded_queue.h"
#include "core/transport/transport.h"

namespace pareto::transport::inproc {

/// Connections that wait to be accepted, and the options they will be accepted with.
struct Backlog {
  static constexpr std::size_t kMostWaiting = 128;

  explicit Backlog(const LinkOptions& with_options) : options(with_options) {}
  const LinkOptions options;
  BoundedQueue<std::unique_ptr<Link>> waiting{kMostWaiting};
};

/// The names and who listens under each. Shared by a transport and its listeners.
///
/// Threads: any.
class Registry {
 public:
  /// Registers a name for a backlog, and returns it. Fails: kPermission (the name is taken). An
  /// empty name becomes a free one.
  Expected<std::string> add(std::string name, const std::shared_ptr<Backlog>& backlog);
  void remove(const std::string& name);
  /// Returns the backlog; null if nobody listens.
  std::shared_ptr<Backlog> find(const std::string& name) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Backlog>> listeners_;
  std::uint64_t names_given_ = 0;
};

/// A name that links of this process connect to.
///
/// Threads: as Listener says.
class InprocListener final : public Listener {
 public:
  InprocListener(std::shared_ptr<Registry> registry, std::shared_ptr<Backlog> backlog,
                 std::string name);
  ~InprocListener() override;

  std::string address() const override { return name_; }
  Expected<std::unique_ptr<Link>> accept(Deadline deadline) override;
  void close() override;

 private:
  const std::shared_ptr<Registry> registry_;
  const std::shared_ptr<Backlog> backlog_;
  const std::string name_;
  std::atomic<bool> closed_ = false;
};

}  // namespace pareto::transport::inproc
