// The calls to a daemon that have not ended, so that they can be ended together.
#pragma once

#include <mutex>
#include <set>

namespace grpc {
class ClientContext;
}

namespace pareto::cluster {

/// A set of calls that adds each while its Scope lives.
///
/// Threads: any.
class CallsUnderWay {
 public:
  /// Makes a call one of these for as long as it lives.
  class Scope {
   public:
    Scope(CallsUnderWay& calls, grpc::ClientContext& context);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    CallsUnderWay& calls_;
    grpc::ClientContext& context_;
  };

  /// Cancels the calls under way.
  void cancel();
  /// Cancels them, and every later call.
  void end();

 private:
  std::mutex mutex_;
  std::set<grpc::ClientContext*> calls_;
  bool ended_ = false;
};

}  // namespace pareto::cluster
