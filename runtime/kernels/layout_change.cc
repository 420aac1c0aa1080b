#include "runtime/kernels/layout_change.h"

#include <ATen/ATen.h>

#include <list>
#include <oneapi/dnnl/dnnl.hpp>

#include "runtime/kernels/onednn.h"

namespace pareto::runtime::kernels {
namespace {

using dnnl::memory;

bool is_known(const at::Tensor& tensor) {
  const bool type = tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kBFloat16;
  const bool dense = tensor.is_contiguous() || tensor.is_contiguous(at::MemoryFormat::ChannelsLast);
  return type && tensor.dim() == 4 && tensor.numel() > 0 && tensor.device().is_cpu() &&
         tensor.layout() == at::kStrided && dense;
}

memory::desc describe(const at::Tensor& tensor) {
  const auto type =
      tensor.scalar_type() == at::kBFloat16 ? memory::data_type::bf16 : memory::data_type::f32;
  const auto sizes = tensor.sizes();
  const auto strides = tensor.strides();
  return {memory::dims(sizes.begin(), sizes.end()), type,
          memory::dims(strides.begin(), strides.end())};
}

struct Known {
  memory::desc from;
  memory::desc to;
  dnnl::reorder reorder;
  memory source;
  memory destination;
};

}  // namespace

struct LayoutChange::Impl {
  Known& find(const memory::desc& from, const memory::desc& to) {
    for (Known& one : known) {
      if (one.from == from && one.to == to) return one;
    }
    onednn::make_room(known);
    known.push_back({from, to, dnnl::reorder({engine, from, engine, to}),
                     memory(from, engine, nullptr), memory(to, engine, nullptr)});
    return known.back();
  }

  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::list<Known> known;
};

LayoutChange::LayoutChange() : impl_(std::make_unique<Impl>()) {}
LayoutChange::~LayoutChange() = default;

at::Tensor LayoutChange::apply(const at::Tensor& tensor, at::MemoryFormat format,
                               at::ScalarType type) {
  if (tensor.scalar_type() == type && tensor.is_contiguous(format)) return tensor;
  if (!is_known(tensor)) return tensor.to(type).contiguous(format);
  at::Tensor result = at::empty(tensor.sizes(), tensor.options().dtype(type), format);
  Known& change = impl_->find(describe(tensor), describe(result));
  change.source.set_data_handle(tensor.data_ptr());
  change.destination.set_data_handle(result.data_ptr());
  change.reorder.execute(impl_->stream, change.source, change.destination);
  impl_->stream.wait();
  return result;
}

}  // namespace pareto::runtime::kernels
