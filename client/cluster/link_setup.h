// The first words on a coordinator's link to a stage: hello and ready.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/transport/transport.h"

namespace pareto::client {

struct Hello {
  std::uint64_t pipeline = 0;
  std::uint32_t stage = 0;
  std::string_view role;  ///< "upstream": we are its source; "sink": we take its results
};

/// Connects, says hello and waits for ready. Hello's body is Dict{"protocol": int, "pipeline": int (the bits of the 64-bit id),
/// "stage": int, "role": string}. Fails: as links do; kInvalidArgument with the stage's own words where it refuses.
Expected<std::unique_ptr<transport::Link>> connect_to_stage(transport::Transport& transport,
                                                            const std::string& address,
                                                            const Hello& hello,
                                                            std::chrono::milliseconds timeout,
                                                            const transport::Limits& limits = {});

}  // namespace pareto::client
