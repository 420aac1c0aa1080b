#include "core/transport/grpc/chunk_pace.h"

#include <gtest/gtest.h>

namespace pareto::transport::grpc {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ChunkPace, AChunkTakesATenthOfASecond) {
  ChunkPace pace;
  EXPECT_EQ(pace.chunk_bytes(), ChunkPace::kFirstBytes);
  pace.sent(1'000'000, seconds(1));
  EXPECT_EQ(pace.chunk_bytes(), 100'000U);
  pace.sent(4'000'000, milliseconds(4));
  EXPECT_EQ(pace.chunk_bytes(), kChunkBytes);
  pace.sent(125'000, seconds(8));
  EXPECT_EQ(pace.chunk_bytes(), ChunkPace::kLeastBytes);
  pace.sent(1 << 20, Nanoseconds(0));
  EXPECT_EQ(pace.chunk_bytes(), kChunkBytes);
}

TEST(ChunkPace, WhatFitsIntoBuffersTellsNothing) {
  ChunkPace pace;
  pace.sent(ChunkPace::kTellingBytes - 1, Nanoseconds(1));
  EXPECT_EQ(pace.chunk_bytes(), ChunkPace::kFirstBytes);
}

}  // namespace
}  // namespace pareto::transport::grpc
