#include "runtime/torch/device_name.h"

#include <ATen/Context.h>

#include "runtime/torch/compat.h"
#include "runtime/torch/guarded.h"

namespace pareto::runtime {

Expected<c10::Device> parse_device(const std::string& name) {
  if (name == "cpu") return c10::Device(c10::kCPU);
  if (!name.starts_with("cuda")) {
    return fail(ErrorCode::kInvalidArgument, "unknown device \"{}\"; use cpu or cuda:N", name);
  }
  if (!at::hasCUDA()) {
    return fail(ErrorCode::kInvalidArgument,
                "device \"{}\": this LibTorch ({}) was built without CUDA", name, torch_version());
  }
  return guarded("device \"" + name + "\"", [&]() -> Expected<c10::Device> {
    const c10::Device device(name);
    const int count = static_cast<int>(at::getNumGPUs());
    if (device.has_index() && device.index() >= count) {
      return fail(ErrorCode::kInvalidArgument, "device \"{}\": there are {} GPUs", name, count);
    }
    return device;
  });
}

}  // namespace pareto::runtime
