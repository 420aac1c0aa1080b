#include "runtime/kernels/packed_concatenation.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

#include "runtime/kernels/parts.h"
#include "runtime/torch/register_operator.h"

namespace pareto::runtime::kernels {
namespace {

/// Returns whether they differ in their channels alone, and lie densely with those innermost.
bool lie_alike(const std::vector<at::Tensor>& pictures) {
  const at::Tensor& first = pictures.front();
  return std::all_of(pictures.begin(), pictures.end(), [&](const at::Tensor& one) {
    return one.dim() == 4 && one.device().is_cpu() && one.layout() == at::kStrided &&
           one.scalar_type() == first.scalar_type() && one.size(0) == first.size(0) &&
           one.size(2) == first.size(2) && one.size(3) == first.size(3) && one.numel() > 0 &&
           one.is_contiguous(at::MemoryFormat::ChannelsLast);
  });
}

/// The bytes of one picture's pixels, and where they go in those of the result.
struct Source {
  const std::byte* bytes;
  std::size_t of_pixel;
};

}  // namespace

at::Tensor concatenate(const std::vector<at::Tensor>& pictures) {
  // Fewer are copied before another thread is awake.
  constexpr std::size_t kFewBytes = 64 << 10;
  if (pictures.size() < 2 || !lie_alike(pictures)) return at::cat(pictures, 1);
  std::vector<std::int64_t> sizes = pictures.front().sizes().vec();
  sizes[1] = 0;
  std::vector<Source> sources;
  for (const at::Tensor& picture : pictures) {
    sizes[1] += picture.size(1);
    sources.push_back({static_cast<const std::byte*>(picture.data_ptr()),
                       static_cast<std::size_t>(picture.size(1)) * picture.element_size()});
  }
  const at::Tensor result =
      at::empty(sizes, pictures.front().options(), at::MemoryFormat::ChannelsLast);
  auto* const target = static_cast<std::byte*>(result.data_ptr());
  const std::size_t of_pixel = static_cast<std::size_t>(sizes[1]) * result.element_size();
  const std::int64_t pixels = sizes[0] * sizes[2] * sizes[3];
  const int parts = result.nbytes() < kFewBytes ? 1 : kernel_threads();
  share(parts, [&](int part) {
    const Share own = share_of(pixels, parts, part);
    for (auto pixel = static_cast<std::size_t>(own.begin);
         pixel < static_cast<std::size_t>(own.end); ++pixel) {
      std::byte* to = target + pixel * of_pixel;
      for (const Source& source : sources) {
        std::memcpy(to, source.bytes + pixel * source.of_pixel, source.of_pixel);
        to += source.of_pixel;
      }
    }
  });
  return result;
}

c10::Symbol concatenation_symbol() {
  static const c10::Symbol kSymbol = register_operator(
      "pareto::concatenation(Tensor[] pictures) -> Tensor",
      [](torch::jit::Stack& stack) {
        const std::vector<at::Tensor> pictures = torch::jit::pop(stack).toTensorVector();
        stack.emplace_back(concatenate(pictures));
      },
      c10::AliasAnalysisKind::FROM_SCHEMA);
  return kSymbol;
}

}  // namespace pareto::runtime::kernels
