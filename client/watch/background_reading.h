// A reading under way while its owner does something else: keys act at once, however long a device
// is waited for.
#pragma once

#include <functional>
#include <future>
#include <optional>
#include <utility>
#include <vector>

#include "client/watch/activity.h"
#include "core/base/error.h"
#include "core/transport/socket.h"

namespace pareto::watch {

/// A reading of all devices on a thread of its own.
///
/// Threads: one owner. `read` is called on a thread of its own, once with each start(); who
/// destroys this waits for it.
class BackgroundReading {
 public:
  using Read = std::function<std::vector<DeviceReading>()>;

  explicit BackgroundReading(Read read) : read_(std::move(read)) {}
  BackgroundReading(const BackgroundReading&) = delete;
  BackgroundReading& operator=(const BackgroundReading&) = delete;

  /// Starts a reading if none is under way. Fails: kExhausted (no descriptors left).
  Expected<> start();
  /// Returns a descriptor that becomes readable once the reading is done; -1 if there is nothing to
  /// take.
  int descriptor() const { return done_ ? done_->descriptor() : -1; }
  /// Waits for what was started and returns it; throws what `read` threw.
  std::vector<DeviceReading> take();

 private:
  const Read read_;
  std::optional<transport::Waker> done_;
  std::future<std::vector<DeviceReading>> pending_;  ///< ends first: it uses the others
};

}  // namespace pareto::watch
