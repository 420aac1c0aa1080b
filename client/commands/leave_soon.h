// A way out for who wants to stop while a device keeps the program waiting.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "client/command.h"
#include "coordinator/cluster/cluster.h"
#include "core/base/error.h"
#include "core/base/file_descriptor.h"

namespace pareto::client::commands {

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
/// The part of it that says what is kept.
inline constexpr std::string_view kProfilesKept =
    std::string_view(kStoppedProfiling).substr(std::string_view("stopped: ").size());

/// Returns `result`, with that sentence as its error if it ended because somebody wanted to stop:
/// what was under way then says nothing.
template <typename T>
Expected<T> as_stopped(Context& context, Expected<T> result) {
  if (!result && result.error().code == ErrorCode::kClosed && context.stop.watch()) {
    return fail(ErrorCode::kClosed, "{}", kStoppedProfiling);
  }
  return result;
}

/// The link that is being probed, or the first pass over the cuts of a profile. Neither has a way
/// to end early, and over a slow link each takes minutes: who wants to stop does not wait for it.
/// Nothing of it is kept.
///
/// Threads: any.
class ProbeInHand {
 public:
  /// `now`: what progress says is in hand; `under_way`: it has begun and not ended.
  void show(const std::string& now, bool under_way);
  /// Returns the sentence for those who stop meanwhile; no value if nothing is in hand.
  std::optional<std::string> why_not() const;
  /// Returns what hung_device() says, or else why_not().
  std::optional<std::string> or_hung(const cluster::Cluster& cluster) const;

 private:
  mutable std::mutex mutex_;
  std::string probe_;  ///< "probing pi-1 to pi-2, tcp"; empty: nothing is in hand
};

/// Names a device that does not answer its control service within a second; no value if all answer.
std::optional<std::string> hung_device(const cluster::Cluster& cluster);

}  // namespace pareto::client::commands
