// Links that one call uses each, to measure the way to another daemon.
#pragma once

#include <mutex>
#include <set>

#include "core/tls/credentials.h"
#include "core/transport/transport.h"

namespace pareto::daemon {

/// The links that are measured now. They are closed when the daemon ends.
///
/// Threads: any.
class ProbeLinks {
 public:
  /// A link that is among them while this lives.
  class Use {
   public:
    /// Both outlive it. The link is closed if close() was called before.
    Use(ProbeLinks& all, transport::Link& link);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    ProbeLinks& all_;
    transport::Link& link_;
  };

  /// Closes all, and those to come.
  void close();
  /// Closes those whose peer's certificate does not hold any more. `own`: null judges nobody.
  void close_refused(const tls::Credentials* own);

 private:
  std::mutex mutex_;  ///< guards the following members
  bool closed_ = false;
  std::set<transport::Link*> links_;
};

}  // namespace pareto::daemon
