#include "runtime/kernels/packed_weights.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <random>
#include <utility>
#include <vector>

#include "core/base/xxhash.h"
#include "runtime/kernels/packed_bytes.h"

namespace pareto::runtime::kernels {
namespace {

using dnnl::memory;
using Bytes = std::shared_ptr<std::byte>;

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kLargePage = std::size_t{2} << 20;
constexpr std::size_t kChunk = 2 * kLargePage;

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::atomic<std::uint64_t> bytes_in_chunks = 0;

/// Uninitialised.
Bytes make_chunk(std::size_t size) {
  auto* const chunk = static_cast<std::byte*>(std::aligned_alloc(kLargePage, size));
  if (chunk == nullptr) throw std::bad_alloc();
  // A hint: small pages do as well, only slower.
  ::madvise(chunk, size, MADV_HUGEPAGE);
  bytes_in_chunks += size;
  return {chunk, [size](std::byte* memory) {
            std::free(memory);
            bytes_in_chunks -= size;
          }};
}

/// A registry of all packed weights of the process. Threads: any.
class Registry {
 public:
  Bytes find(const WeightContent& content, const memory::desc& layout) {
    const std::lock_guard lock(mutex_);
    return find_locked(content, layout);
  }

  /// Adds a copy of `packed`, or what another thread was faster to add.
  Bytes add(const WeightContent& content, const memory& packed) {
    const memory::desc layout = packed.get_desc();
    const std::lock_guard lock(mutex_);
    if (Bytes known = find_locked(content, layout)) return known;
    Bytes copy = allocate(layout.get_size());
    std::memcpy(copy.get(), packed.get_data_handle(), layout.get_size());
    forget_expired();
    known_[content].push_back({layout, copy});
    ++entries_;
    return copy;
  }

 private:
  struct Entry {
    memory::desc layout;
    std::weak_ptr<std::byte> bytes;
  };

  Bytes find_locked(const WeightContent& content, const memory::desc& layout) const {
    const auto found = known_.find(content);
    if (found == known_.end()) return nullptr;
    for (const Entry& entry : found->second) {
      if (entry.layout != layout) continue;
      if (Bytes bytes = entry.bytes.lock()) return bytes;
    }
    return nullptr;
  }

  /// Allocates memory, 64-byte aligned, behind what was allocated last. Its chunk stays as long as
  /// anything in it, so that large ones have their own.
  Bytes allocate(std::size_t bytes) {
    const std::size_t wanted = rounded_up(bytes, kAlignment);
    if (wanted > kChunk / 2) return make_chunk(rounded_up(wanted, kLargePage));
    Bytes chunk = chunk_.lock();
    if (!chunk || wanted > left_) {
      chunk = make_chunk(kChunk);
      chunk_ = chunk;
      next_ = chunk.get();
      left_ = kChunk;
    }
    left_ -= wanted;
    return {std::move(chunk), std::exchange(next_, next_ + wanted)};
  }

  /// Forgets expired ones each time that there are twice as many as were left the last time.
  void forget_expired() {
    constexpr std::size_t kFew = 256;
    if (entries_ < 2 * std::max(left_after_forgetting_, kFew)) return;
    entries_ = 0;
    for (auto& [content, entries] : known_) {
      std::erase_if(entries, [](const Entry& entry) { return entry.bytes.expired(); });
      entries_ += entries.size();
    }
    std::erase_if(known_, [](const auto& known) { return known.second.empty(); });
    left_after_forgetting_ = entries_;
  }

  std::mutex mutex_;
  std::map<WeightContent, std::vector<Entry>> known_;
  std::size_t entries_ = 0;
  std::size_t left_after_forgetting_ = 0;
  std::weak_ptr<std::byte> chunk_;  // the last one made
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
};

Registry& registry() {
  static Registry of_all_engines;
  return of_all_engines;
}

using Secret = std::array<std::uint32_t, 48>;

Secret make_secret() {
  Secret secret;
  std::random_device random;
  for (std::uint32_t& part : secret) part = random();
  return secret;
}

}  // namespace

WeightContent content_of(std::span<const std::byte> weights) {
  static const Secret kSecret = make_secret();
  static_assert(sizeof(Secret) >= XXH3_SECRET_SIZE_MIN);
  const XXH128_hash_t hash =
      XXH3_128bits_withSecret(weights.data(), weights.size(), kSecret.data(), sizeof(kSecret));
  return {hash.low64, hash.high64};
}

std::optional<memory> PackedWeights::find(const WeightContent& content, const memory::desc& layout,
                                          const dnnl::engine& device) {
  Bytes bytes = registry().find(content, layout);
  if (!bytes) return std::nullopt;
  return hold(std::move(bytes), layout, device);
}

memory PackedWeights::keep(const WeightContent& content, const memory& packed) {
  const auto held = held_.find(static_cast<const std::byte*>(packed.get_data_handle()));
  Bytes bytes = held != held_.end() ? held->second.bytes : registry().add(content, packed);
  memory kept = hold(bytes, packed.get_desc(), packed.get_engine());
  held_.at(bytes.get()).kept = true;
  return kept;
}

memory PackedWeights::hold(Bytes bytes, const memory::desc& layout, const dnnl::engine& device) {
  std::byte* const place = bytes.get();
  held_.try_emplace(place, Held{std::move(bytes), layout.get_size()});
  return {layout, device, place};
}

std::uint64_t PackedWeights::bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [place, held] : held_) bytes += held.kept ? held.size : 0;
  return bytes;
}

std::uint64_t packed_weight_bytes() { return bytes_in_chunks; }

std::uint64_t bytes_of(const PackedWeights* packed) {
  return packed != nullptr ? packed->bytes() : 0;
}

}  // namespace pareto::runtime::kernels
