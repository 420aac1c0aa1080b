// Facts that every part of a stage knows: which stage it is, and where it counts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/wire/message.h"
#include "daemon/stage/link_peers.h"
#include "daemon/stage/stage_meter.h"

namespace pareto::daemon {

/// Returns the fields that log lines about a stage can be searched by: PARETO_PIPELINE (16
/// hexadecimal digits) and PARETO_STAGE.
std::vector<LogField> log_fields(std::uint64_t pipeline, std::uint32_t stage);

/// One stage, as its parts name it. It never changes; its meter may be counted into by any thread.
struct StageContext {
  std::uint64_t pipeline = 0;
  std::uint32_t stage = 0;  ///< its number in the pipeline, from 0
  std::string device;       ///< the name of this device
  std::shared_ptr<StageMeter> meter;
  LinkPeers peers{};  ///< those who may speak with it

  /// Returns "stage 1 on pi-2".
  std::string name() const;
  /// Logs a line that begins with the pipeline's number.
  void log(LogLevel level, std::string_view text, LogPlace place = LogPlace::here()) const;
  /// Makes the message that leaves in place of a request's values, with this stage's name before
  /// the error. Counts the request as failed, and logs it.
  wire::Message failure_of(std::uint64_t request, const Error& error) const;
};

}  // namespace pareto::daemon
