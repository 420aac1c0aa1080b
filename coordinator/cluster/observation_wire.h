// An Observation as it came from a device, which may say anything.
#pragma once

#include "coordinator/cluster/observation.h"
#include "core/base/error.h"
#include "proto/control.pb.h"

namespace pareto::cluster {

/// Words come out without control characters and no longer than a line, figures that are none are
/// left out. Fails: kCorrupt (durations that no clock gives, counts of other ranges, more stages
/// than a daemon has).
Expected<Observation> observation_of(const control::v1::ObserveReply& reply);

}  // namespace pareto::cluster
