// Reads what coordinators send in the calls that fill the store of weights.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "daemon/stage/tensor_file.h"
#include "proto/control.pb.h"

namespace pareto::daemon {

/// Size of a digest in a MissingTensorsRequest, with its field's tag and length.
inline constexpr std::size_t kDigestRecordBytes = 2 + 32;

/// Returns the digests of a MissingTensorsRequest, whose bytes `request` are as they were sent.
/// Fails: kInvalidArgument.
Expected<std::vector<Digest>> digests_from(std::string_view request);

/// Returns what the first chunk of a tensor says of it. Fails: kInvalidArgument (an unknown dtype).
Expected<TensorFileHeader> header_from(const control::v1::TensorChunk& chunk);

}  // namespace pareto::daemon
