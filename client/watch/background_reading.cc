#include "client/watch/background_reading.h"

namespace pareto::watch {
namespace {

/// However a reading ends.
struct WakeAtEnd {
  transport::Waker& waker;
  ~WakeAtEnd() { waker.wake(); }
};

}  // namespace

Expected<> BackgroundReading::start() {
  PARETO_ASSIGN(transport::Waker done, transport::Waker::create());
  done_.emplace(std::move(done));
  pending_ = std::async(std::launch::async, [this] {
    const WakeAtEnd end{*done_};
    return read_();
  });
  return {};
}

std::vector<DeviceReading> BackgroundReading::take() {
  // Not before it has ended: it wakes by what is forgotten here.
  pending_.wait();
  done_.reset();
  return pending_.get();
}

}  // namespace pareto::watch
