#include "runtime/kernels/layer_weights.h"

#include <ATen/ATen.h>

#include <array>

namespace pareto::runtime::kernels {

using dnnl::memory;

LayerWeights::LayerWeights(const at::Tensor& given, std::int64_t groups,
                           std::shared_ptr<PackedWeights> packed)
    : sizes_(given.sizes().vec()),
      groups_(groups),
      packed_(std::move(packed)),
      given_(given.contiguous()),
      engine_(dnnl::engine::kind::cpu, 0),
      stream_(engine_) {}

memory::dims LayerWeights::dims(const Share& channels) const {
  memory::dims dims(sizes_.begin(), sizes_.end());
  dims[0] = channels.size();
  if (groups_ > 1) {
    dims.insert(dims.begin(), groups_);
    dims[1] /= groups_;
  }
  return dims;
}

WeightContent LayerWeights::content() {
  // What is left once the given ones are dropped is the content of what is packed, by which others
  // find it.
  if (!content_) {
    content_ = content_of({static_cast<const std::byte*>(given_.data_ptr()), given_.nbytes()});
  }
  return *content_;
}

WeightContent LayerWeights::content(const Share& channels) {
  const WeightContent whole = content();
  if (channels == all()) return whole;
  const std::array<std::uint64_t, 4> part{whole.low, whole.high,
                                          static_cast<std::uint64_t>(channels.begin),
                                          static_cast<std::uint64_t>(channels.end)};
  return content_of(std::as_bytes(std::span(part)));
}

memory LayerWeights::as_given(void* weights, const Share& channels) const {
  const auto order = groups_ > 1 ? memory::format_tag::goihw : memory::format_tag::oihw;
  const std::int64_t of_one = sizes_[1] * sizes_[2] * sizes_[3];
  return {{dims(channels), memory::data_type::f32, order},
          engine_,
          static_cast<float*>(weights) + channels.begin * of_one};
}

void LayerWeights::reorder(memory from, memory& to) {
  dnnl::reorder(from, to).execute(stream_, from, to);
  stream_.wait();
}

memory LayerWeights::packed(const memory::desc& layout, const Share& channels) {
  for (const auto& [of, packed] : fresh_) {
    if (of == channels && packed.get_desc() == layout) return packed;
  }
  if (auto known = packed_->find(content(channels), layout, engine_)) return *std::move(known);
  const at::Tensor given = plain();
  memory result(layout, engine_);
  reorder(as_given(given.data_ptr(), channels), result);
  fresh_.emplace_back(channels, result);
  return result;
}

memory LayerWeights::keep(const memory& packed, const Share& channels) {
  memory kept = packed_->keep(content(channels), packed);
  if (given_.defined() && (kept_.empty() || kept_.back().first.end == channels.begin)) {
    kept_.emplace_back(channels, kept);
  }
  return kept;
}

at::Tensor LayerWeights::plain() {
  if (given_.defined()) return given_;
  at::Tensor plain = at::empty(sizes_, at::kFloat);
  for (const auto& [channels, kept] : kept_) {
    memory part = as_given(plain.data_ptr(), channels);
    reorder(kept, part);
  }
  return plain;
}

void LayerWeights::drop_given(bool lossless) {
  fresh_.clear();
  if (!given_.defined()) return;
  if (lossless && !kept_.empty() && kept_.back().first.end == sizes_[0]) {
    given_.reset();
  } else if (given_.storage().resizable()) {
    const memory shared = packed_->keep(content(), as_given(given_.data_ptr(), all()));
    given_ = at::from_blob(shared.get_data_handle(), sizes_, at::kFloat);
  }
}

}  // namespace pareto::runtime::kernels
