// What an encoded frame is on a wire. Shared by the frame tests.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "core/wire/frame.h"

namespace pareto::wire {

using Bytes = std::vector<std::byte>;

inline Bytes bytes_of(EncodedFrame frame) {
  Bytes bytes;
  for (const auto& piece : frame.pieces()) {
    bytes.insert(bytes.end(), piece.bytes.begin(), piece.bytes.end());
  }
  const auto trailer = frame.trailer();
  bytes.insert(bytes.end(), trailer.begin(), trailer.end());
  EXPECT_EQ(bytes.size(), frame.size_bytes());
  return bytes;
}

}  // namespace pareto::wire
