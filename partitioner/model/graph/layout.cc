#include "partitioner/model/graph/layout.h"

#include <algorithm>
#include <numeric>

namespace pareto::model {
namespace {

/// Places beyond its size that memory holds of each dimension; a view may be a slice of something
/// larger.
bool find_gaps(const at::Tensor& tensor, MemoryLayout& layout) {
  layout.gaps.assign(layout.order.size(), 0);
  layout.step = 0;  // stride of the innermost dimension, once met
  std::int64_t inner_stride = 0;
  std::size_t inner = 0;
  for (std::size_t i = layout.order.size(); i > 0; --i) {
    const std::int64_t dim = layout.order[i - 1];
    if (tensor.size(dim) == 1) continue;  // its stride says nothing
    const std::int64_t stride = tensor.stride(dim);
    if (layout.step == 0) {
      layout.step = stride;
    } else {
      const std::int64_t places = stride / inner_stride;
      const std::int64_t size = tensor.size(layout.order[inner]);
      if (stride % inner_stride != 0 || places < size) return false;
      layout.gaps[inner] = places - size;
    }
    inner_stride = stride;
    inner = i - 1;
  }
  if (layout.step == 0) layout.step = 1;
  return true;
}

void simplify(MemoryLayout& layout) {
  if (std::all_of(layout.gaps.begin(), layout.gaps.end(), [](auto gap) { return gap == 0; })) {
    layout.gaps.clear();
  }
  if (std::is_sorted(layout.order.begin(), layout.order.end())) layout.order.clear();
}

/// Returns where each dimension stands in the order of memory.
std::vector<std::int64_t> inverse_of(const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> inverse(order.size());
  for (std::size_t i = 0; i < inverse.size(); ++i) {
    inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  }
  return inverse;
}

}  // namespace

MemoryLayout layout_of(const c10::IValue& value) {
  if (!value.isTensor() || !value.toTensor().defined()) return {};
  const at::Tensor& tensor = value.toTensor();
  if (tensor.layout() != c10::kStrided || tensor.is_contiguous() || tensor.numel() == 0) return {};
  for (std::int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (tensor.stride(dim) != 0 || tensor.size(dim) == 1) continue;
    MemoryLayout layout = layout_of(tensor.narrow(dim, 0, 1));
    layout.repeated.insert(layout.repeated.begin(), dim);
    return layout;
  }
  MemoryLayout layout;
  layout.order.resize(static_cast<std::size_t>(tensor.dim()));
  std::iota(layout.order.begin(), layout.order.end(), 0);
  std::stable_sort(layout.order.begin(), layout.order.end(), [&](std::int64_t a, std::int64_t b) {
    return tensor.stride(a) > tensor.stride(b);
  });
  if (!find_gaps(tensor, layout)) {  // it overlaps itself
    layout.gaps.clear();
    layout.step = 1;
  }
  simplify(layout);
  return layout;
}

bool holds_views(const c10::IValue& value) {
  if (value.isTensor()) return false;
  bool found = false;
  value.visit([&](const c10::IValue& part) {
    found = found || layout_of(part) != MemoryLayout{};
    return found;
  });
  return found;
}

MemoryLayout join_layouts(const MemoryLayout& a, const MemoryLayout& b) {
  if (a == b) return a;
  const auto repeated = a.repeated == b.repeated ? a.repeated : std::vector<std::int64_t>{};
  if (a.order == b.order) return {a.order, {}, 1, repeated};
  return {};
}

torch::jit::Value* restore_layout(torch::jit::Graph& graph, torch::jit::Value* tensor,
                                  const MemoryLayout& layout, std::int64_t& count) {
  const auto insert = [&](c10::Symbol kind, const std::vector<torch::jit::NamedValue>& arguments) {
    ++count;
    tensor = graph.insert(kind, arguments);
  };
  const std::int64_t zero = 0;
  const std::int64_t one = 1;
  const std::int64_t last = -1;
  const std::vector<std::int64_t> inverse = inverse_of(layout.order);
  torch::jit::Value* const whole = tensor;
  for (const std::int64_t dim : layout.repeated) {
    const std::int64_t place = inverse.empty() ? dim : inverse[static_cast<std::size_t>(dim)];
    insert(c10::aten::slice, {tensor, place, zero, one, one});
  }
  if (!layout.repeated.empty()) insert(c10::aten::contiguous, {tensor});
  std::vector<std::int64_t> padding;  // from the last dimension to the first: before, behind
  if (layout.step > 1) {
    // One more dimension, innermost, of which only the first place is used.
    insert(c10::aten::unsqueeze, {tensor, last});
    padding = {0, layout.step - 1};
  }
  for (auto gap = layout.gaps.rbegin(); gap != layout.gaps.rend(); ++gap) {
    padding.insert(padding.end(), {0, *gap});
  }
  if (!padding.empty()) insert(c10::aten::constant_pad_nd, {tensor, padding, zero});
  for (std::size_t i = 0; i < layout.gaps.size(); ++i) {
    if (layout.gaps[i] == 0) continue;
    insert(c10::aten::slice, {tensor, static_cast<std::int64_t>(i), zero, -layout.gaps[i], one});
  }
  if (layout.step > 1) insert(c10::aten::select, {tensor, last, zero});
  if (!inverse.empty()) insert(c10::aten::permute, {tensor, inverse});
  if (layout.repeated.empty()) return tensor;
  torch::jit::Value* const once = tensor;
  tensor = whole;
  if (!inverse.empty()) insert(c10::aten::permute, {tensor, inverse});
  insert(c10::aten::expand_as, {once, tensor});
  return tensor;
}

}  // namespace pareto::model
