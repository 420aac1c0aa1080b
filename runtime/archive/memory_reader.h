// An archive in memory, as LibTorch reads it. Sees LibTorch: for sources of runtime and
// partitioner/model only.
#pragma once

#include <caffe2/serialize/read_adapter_interface.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pareto::runtime {

/// Bytes that stay where they are for as long as LibTorch reads them. Threads: any.
class MemoryReader final : public caffe2::serialize::ReadAdapterInterface {
 public:
  explicit MemoryReader(std::string_view bytes) : bytes_(bytes) {}

  std::size_t size() const override { return bytes_.size(); }
  std::size_t read(std::uint64_t at, void* into, std::size_t count,
                   const char* /*what*/) const override {
    if (at > bytes_.size()) return 0;
    return bytes_.copy(static_cast<char*>(into), count, at);
  }

 private:
  std::string_view bytes_;
};

}  // namespace pareto::runtime
