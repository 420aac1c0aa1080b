// A way out for who wants to stop while a device keeps the program waiting.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "client/command.h"
#include "coordinator/cluster/cluster.h"
#include "core/base/error.h"
#include "core/base/file_descriptor.h"

namespace pareto::client {

/// Announces that the program ends in order once somebody wants to stop. Then it asks whether the
/// program can. If it cannot, it says why on stderr and ends the process.
///
/// Threads: one owner; one of its own. Destroyed before what the question needs.
class LeaveSoon {
 public:
  /// Returns why the program would have to wait too long; no value if it ends by itself. It may
  /// take a second or two.
  using Question = std::function<std::optional<std::string>()>;

  /// `sentence`: as StopSignal::announce takes it. After StopSignal::watch().
  LeaveSoon(Context& context, const char* sentence, int exit_code, Question why_not);
  ~LeaveSoon();
  LeaveSoon(const LeaveSoon&) = delete;
  LeaveSoon& operator=(const LeaveSoon&) = delete;

 private:
  const FileDescriptor done_;
  std::jthread waiting_;
};

/// Sentences at the first request to stop, before a command measures and while it does.
inline constexpr const char* kStoppedEarly = "stopped before anything was measured";
inline constexpr const char* kStopping =
    "stopping after what is being measured; again to leave now";

/// Sentence at the end of a command that was stopped while it profiled devices or probed links.
inline constexpr const char* kStoppedProfiling =
    "stopped: complete profiles of devices are kept, and not measured again";

/// Returns `result`, with that sentence as its error if it ended because somebody wanted to stop:
/// what was under way then says nothing.
template <typename T>
Expected<T> as_stopped(Context& context, Expected<T> result) {
  if (!result && result.error().code == ErrorCode::kClosed && context.stop.watch()) {
    return fail(ErrorCode::kClosed, "{}", kStoppedProfiling);
  }
  return result;
}

/// Names a device that does not answer its control service within a second; no value if all answer.
std::optional<std::string> hung_device(const cluster::Cluster& cluster);

}  // namespace pareto::client
