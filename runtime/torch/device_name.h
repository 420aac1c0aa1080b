// Devices of LibTorch by their names. It includes LibTorch: include it only in sources of
// runtime.
#pragma once

#include <c10/core/Device.h>

#include <string>

#include "core/base/error.h"

namespace pareto::runtime {

/// Returns the device of that name: "cpu", "cuda:0". Fails: kInvalidArgument (neither cpu nor
/// cuda:N, a LibTorch without CUDA, no such GPU).
Expected<c10::Device> parse_device(const std::string& name);

}  // namespace pareto::runtime
