// Messages, pairs of links and other small things that the transport tests share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "core/transport/transport.h"

namespace pareto::transport {

/// Long enough for any machine under any sanitizer; a test that waits so long has failed.
inline Deadline soon() { return deadline_after(std::chrono::seconds(60)); }
/// Returns a deadline for what must not happen: long enough that it would, were it going to.
inline Deadline shortly() { return deadline_after(std::chrono::milliseconds(50)); }

inline std::string listen_address(const Transport& transport) {
  return transport.reach() == Reach::kNetwork ? "127.0.0.1:0" : "";
}

/// Returns a message with one tensor of that many bytes, each a function of its place and the
/// request.
inline wire::Message message_of(std::uint64_t request, std::int64_t bytes) {
  auto tensor = Tensor::allocate(DType::kUInt8, {bytes});
  auto memory = tensor->mutable_bytes();
  // They repeat after a prime number of bytes: pieces that change places are seen.
  constexpr std::size_t kPeriod = 4093;
  for (std::size_t i = 0; i < std::min(memory.size(), kPeriod); ++i) {
    memory[i] = static_cast<std::byte>((i * 31 + request) ^ (i >> 8));
  }
  for (std::size_t made = kPeriod; made < memory.size(); made *= 2) {
    std::memcpy(&memory[made], memory.data(), std::min(made, memory.size() - made));
  }
  wire::Message message;
  message.pipeline = 7;
  message.request = request;
  message.body = Tuple{{*std::move(tensor)}};
  return message;
}

inline ErrorCode code_of(const auto& result) {
  EXPECT_FALSE(result) << "expected an error";
  if (result) return ErrorCode::kInternal;
  EXPECT_FALSE(result.error().message.empty());
  return result.error().code;
}

/// `result`'s value, or the end of the test.
template <typename T>
T must(Expected<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

struct Pair {
  std::unique_ptr<Link> client;
  std::unique_ptr<Link> server;
};

/// Runs a call on a thread of its own and hands out its result.
template <typename Call>
class Async {
 public:
  explicit Async(Call call)
      : call_(std::move(call)), thread_([this] { result_.emplace(call_()); }) {}
  /// Waits for the call to return.
  auto get() {
    thread_.join();
    return *std::move(result_);
  }

 private:
  Call call_;
  std::optional<decltype(std::declval<Call&>()())> result_;
  std::jthread thread_;  // last: it ends before what it uses
};

}  // namespace pareto::transport
