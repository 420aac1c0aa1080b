#include "client/flags/sharing_flags.h"

#include <CLI/CLI.hpp>

#include "client/flags/time_flags.h"
#include "core/base/usage.h"
#include "core/plan/stage_settings.h"

namespace pareto::client {

void SharingFlags::add_to(CLI::App& app, bool deadlines) {
  const Heading heading(app, "Sharing devices");
  set_value(app.add_option("--weight", weight,
                           "share of a device's cores, relative to other pipelines there, 0.01 to "
                           "100 (devices with turns: fair)"),
            "SHARE")
      ->capture_default_str();
  set_value(app.add_option("--priority", priority,
                           "requests of a higher one compute first, -127 to 127 (devices with "
                           "turns: deadline)"),
            "N")
      ->capture_default_str();
  if (!deadlines) return;
  set_value(app.add_option("--deadline", deadline,
                           "time after which a result is of no use: a device drops the request "
                           "then, and the earliest one computes first (turns: deadline)"),
            "DURATION");
}

Expected<> SharingFlags::check() const {
  if (!(weight >= plan::kLeastWeight && weight <= plan::kMostWeight)) {
    return fail(ErrorCode::kInvalidArgument, "--weight {}: {} to {} are possible", weight,
                plan::kLeastWeight, plan::kMostWeight);
  }
  if (priority < -plan::kMostPriority || priority > plan::kMostPriority) {
    return fail(ErrorCode::kInvalidArgument, "--priority {}: {} to {} are possible", priority,
                -plan::kMostPriority, plan::kMostPriority);
  }
  return {};
}

Expected<Nanoseconds> SharingFlags::read_deadline() const {
  if (!deadline) return Nanoseconds(0);
  PARETO_ASSIGN(const Nanoseconds time, parse_long_time(*deadline, "--deadline"));
  // A frame has room for an hour and a little more.
  if (time < std::chrono::microseconds(1) || time > std::chrono::hours(1)) {
    return fail(ErrorCode::kInvalidArgument, "--deadline {}: 1us to 1h are possible", *deadline);
  }
  return time;
}

}  // namespace pareto::client
