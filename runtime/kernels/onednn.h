// Helpers of the sources that call oneDNN directly. Internal to runtime; sees LibTorch.
#pragma once

#include <ATen/ATen.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <oneapi/dnnl/dnnl.hpp>

#include "runtime/kernels/parts.h"

namespace pareto::runtime::kernels::onednn {

using dnnl::memory;

inline memory::data_type data_type(at::ScalarType type) {
  return type == at::kBFloat16 ? memory::data_type::bf16 : memory::data_type::f32;
}

/// Returns the layout of [batch, channels, height, width] with the channels innermost.
inline memory::desc picture(at::IntArrayRef sizes, at::ScalarType type) {
  return {memory::dims(sizes.begin(), sizes.end()), data_type(type), memory::format_tag::nhwc};
}

/// Returns attributes for a primitive whose working memory comes with every run. oneDNN's own
/// memory belongs to the thread that made the primitive, but shards are loaded in one thread and
/// run in another.
inline dnnl::primitive_attr with_scratchpad(dnnl::primitive_attr attributes = {}) {
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

/// Working memory for one run of a primitive: lent to it, for as long as the result is held.
class Lent {
 public:
  explicit Lent(memory& scratchpad) : working_(scratchpad.get_desc().get_size()) {
    scratchpad.set_data_handle(working_.data());
  }

 private:
  WorkingMemory working_;
};

/// Makes room before another size of input is prepared: of many that are known the oldest goes,
/// because there may be no end of sizes. The very first stays, whose weights may be all that is
/// left of the given ones.
template <typename Known>
void make_room(std::list<Known>& known) {
  constexpr std::size_t kMost = 16;
  if (known.size() >= kMost) known.erase(std::next(known.begin()));
}

}  // namespace pareto::runtime::kernels::onednn
