// What the sources that call oneDNN directly share. Internal to core/runtime; sees LibTorch.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstring>
#include <oneapi/dnnl/dnnl.hpp>

#include "core/runtime/weight_memory.h"

namespace pareto::runtime::onednn {

using dnnl::memory;

inline memory::data_type data_type(at::ScalarType type) {
  return type == at::kBFloat16 ? memory::data_type::bf16 : memory::data_type::f32;
}

/// [batch, channels, height, width] with the channels innermost.
inline memory::desc picture(at::IntArrayRef sizes, at::ScalarType type) {
  return {memory::dims(sizes.begin(), sizes.end()), data_type(type), memory::format_tag::nhwc};
}

/// Packed weights, moved to where they stay.
inline memory settled(const memory& packed, WeightMemory& place) {
  const memory::desc layout = packed.get_desc();
  std::byte* const bytes = place.allocate(layout.get_size());
  std::memcpy(bytes, packed.get_data_handle(), layout.get_size());
  return {layout, packed.get_engine(), bytes};
}

}  // namespace pareto::runtime::onednn
