// The packed weights of all engines in a process. Shards of one model have most of their layers in
// common. An engine finds and holds what another has packed, instead of packing it again. Every
// request reads them from end to end, so they lie close together, on large pages if the kernel
// grants them. Internal to runtime; no LibTorch.
//
//   given weights ──content_of──▶ find ──▶ packed weights of an engine that packed them before
//                                   └─none─▶ pack them as one likes ──keep──▶ for others to find
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <span>

namespace pareto::runtime::kernels {

/// The content of weights, whatever their layout: 128 bits (XXH3) under a secret of this process,
/// without which nobody can tell which others look alike.
struct WeightContent {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  auto operator<=>(const WeightContent&) const = default;
};
WeightContent content_of(std::span<const std::byte> weights);

/// The packed weights of one engine. They stay as long as any engine that holds them.
///
/// Threads: one owner at a time; each engine may have its own.
class PackedWeights {
 public:
  /// Returns the weights of that content in that layout, if an engine holds them. From now on this
  /// engine holds them too. They count as its own only when they are kept. `device` is oneDNN's
  /// device for which they are given.
  std::optional<dnnl::memory> find(const WeightContent& content, const dnnl::memory::desc& layout,
                                   const dnnl::engine& device);
  /// Keeps a copy of `packed` that stays, or what find() would give; `packed` itself where it is
  /// held already. Throws std::bad_alloc.
  dnnl::memory keep(const WeightContent& content, const dnnl::memory& packed);
  /// Returns the bytes of all that this engine keeps, shared or not.
  std::uint64_t bytes() const;

 private:
  struct Held {
    std::shared_ptr<std::byte> bytes;
    std::size_t size = 0;
    bool kept = false;
  };
  dnnl::memory hold(std::shared_ptr<std::byte> bytes, const dnnl::memory::desc& layout,
                    const dnnl::engine& device);

  std::map<const std::byte*, Held> held_;
};

}  // namespace pareto::runtime::kernels
