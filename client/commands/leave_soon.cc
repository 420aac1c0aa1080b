#include "client/commands/leave_soon.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ostream>
#include <utility>
#include <vector>

#include "coordinator/cluster/control_address.h"
#include "coordinator/cluster/daemon_client.h"
#include "core/base/clock.h"

namespace pareto::client::commands {
namespace {

constexpr std::chrono::milliseconds kPatience{1000};
/// The time from the signal until the process ends, if it has to.
constexpr std::chrono::milliseconds kGrace{1500};

/// Waits until `stop` or `done` is readable. False: `done` is readable, and `stop` may be too.
bool wait_for_stop(int stop, int done) {
  std::array<pollfd, 2> waiting{{{stop, POLLIN, 0}, {done, POLLIN, 0}}};
  while (::poll(waiting.data(), waiting.size(), -1) < 0) {
    if (errno != EINTR) return false;
  }
  return waiting[1].revents == 0;
}

bool is_done_by(int done, TimePoint deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(
      std::max<Nanoseconds>(deadline - std::chrono::steady_clock::now(), Nanoseconds(0)));
  pollfd one{done, POLLIN, 0};
  return ::poll(&one, 1, static_cast<int>(left.count())) > 0;
}

}  // namespace

LeaveSoon::LeaveSoon(Context& context, const char* sentence, int exit_code, Question why_not)
    : done_(::eventfd(0, EFD_CLOEXEC)),
      waiting_([this, stop = context.stop.descriptor(), &err = context.err, exit_code,
                why_not = std::move(why_not)] {
        if (!wait_for_stop(stop, done_.get())) return;
        // A device that answers now may hang in a moment: it is asked until the work has ended.
        for (;;) {
          const TimePoint deadline = std::chrono::steady_clock::now() + kGrace;
          const std::optional<std::string> why = why_not();
          if (is_done_by(done_.get(), deadline)) return;
          if (!why) continue;
          err << "paretoctl: " << *why << std::endl;
          ::_exit(exit_code);
        }
      }) {
  context.stop.announce(sentence);
}

LeaveSoon::~LeaveSoon() {
  const std::uint64_t once = 1;
  static_cast<void>(!::write(done_.get(), &once, sizeof once));
}

void ProbeInHand::show(const std::string& now, bool under_way) {
  // From the second pass on, the profiles are complete: they are kept once the cut in hand is done.
  const bool first_pass = now.starts_with("profiling ") && now.find(", pass ") == std::string::npos;
  const std::lock_guard lock(mutex_);
  probe_ = under_way && (first_pass || now.starts_with("probing ")) ? now : "";
}

std::optional<std::string> ProbeInHand::why_not() const {
  const std::lock_guard lock(mutex_);
  if (probe_.empty()) return std::nullopt;
  return fmt::format("stopped while {}, which is not waited for: {}", probe_, kProfilesKept);
}

std::optional<std::string> ProbeInHand::or_hung(const cluster::Cluster& cluster) const {
  const std::optional<std::string> hung = hung_device(cluster);
  return hung ? hung : why_not();
}

std::optional<std::string> hung_device(const cluster::Cluster& cluster) {
  std::vector<Expected<>> answers(cluster.size());
  {
    std::vector<std::jthread> asking;
    for (std::size_t i = 0; i < cluster.size(); ++i) {
      asking.emplace_back([&, i] {
        auto status = cluster.device(i).status(kPatience);
        if (!status) answers[i] = tl::unexpected(std::move(status).error());
      });
    }
  }
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    if (answers[i] || answers[i].error().code != ErrorCode::kTimeout) continue;
    return fmt::format("stopped: {} does not answer, and is not waited for",
                       cluster::name_and_address(cluster.device(i).config()));
  }
  return std::nullopt;
}

}  // namespace pareto::client::commands
