#include "runtime/execution/output_place.h"

#include <c10/core/CPUAllocator.h>
#include <torch/version.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "runtime/torch/memory_limit.h"

namespace pareto::runtime {
namespace {

// Kernels read and write whole lines of the cache.
constexpr std::uintptr_t kAlignment = 64;

thread_local std::vector<OutputPlace*>* current_places = nullptr;

void release(void* owner) { delete static_cast<at::Tensor*>(owner); }

/// LibTorch's own allocator, but for memory that a scope of the thread has a place for.
class PlacingAllocator final : public c10::Allocator {
 public:
  explicit PlacingAllocator(c10::Allocator* base) : base_(base) {}

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
  c10::DataPtr allocate(std::size_t bytes) override { return find(bytes); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
#else
  c10::DataPtr allocate(std::size_t bytes) const override { return find(bytes); }
#endif
  c10::DeleterFnPtr raw_deleter() const override { return base_->raw_deleter(); }

 private:
  c10::DataPtr find(std::size_t bytes) const {
    if (current_places == nullptr) return base_->allocate(bytes);
    std::optional<c10::DataPtr> given;
    for (OutputPlace* const place : *current_places) {
      // All of them count the request.
      auto offered = place->give(bytes);
      if (!given) given = std::move(offered);
    }
    c10::DataPtr memory = given ? *std::move(given) : base_->allocate(bytes);
    for (OutputPlace* const place : *current_places) place->see(bytes, memory.get());
    return memory;
  }

  c10::Allocator* const base_;
};

void install_allocator() {
  // What counts memory lies below: places are none of a request's.
  install_counting_allocator();
  static PlacingAllocator allocator(c10::GetCPUAllocator());
  static const bool kInstalled = [] {
    c10::SetCPUAllocator(&allocator, /*priority=*/1);
    return true;
  }();
  static_cast<void>(kInstalled);
}

/// Returns whether a tensor fills its memory.
bool fills_memory(const at::Tensor& tensor) {
  return tensor.storage_offset() == 0 && tensor.is_non_overlapping_and_dense() &&
         tensor.nbytes() == tensor.storage().nbytes();
}

}  // namespace

OutputPlace::Scope::Scope(std::vector<OutputPlace*> places) : places_(std::move(places)) {
  install_allocator();
  for (OutputPlace* const place : places_) {
    place->asked_ = 0;
    place->seen_.clear();
  }
  if (!places_.empty()) current_places = &places_;
}

OutputPlace::Scope::~Scope() {
  if (!places_.empty()) current_places = nullptr;
}

void OutputPlace::want(at::Tensor wanted) {
  const bool fits = wanted.defined() &&
                    reinterpret_cast<std::uintptr_t>(wanted.data_ptr()) % kAlignment == 0 &&
                    wanted.is_non_overlapping_and_dense();
  wanted_ = fits ? std::move(wanted) : at::Tensor();
}

std::optional<c10::DataPtr> OutputPlace::give(std::size_t bytes) {
  if (bytes != bytes_ || bytes == 0 || asked_++ != turn_) return std::nullopt;
  if (state_ != State::kKnown || !wanted_.defined() || wanted_.nbytes() != bytes) {
    return std::nullopt;
  }
  // What lies there keeps the whole alive.
  auto owner = std::make_unique<at::Tensor>(wanted_);
  return c10::DataPtr(wanted_.data_ptr(), owner.release(), &release, c10::DeviceType::CPU);
}

void OutputPlace::see(std::size_t bytes, const void* data) {
  if (state_ == State::kSized && bytes == bytes_) seen_.push_back(data);
}

bool OutputPlace::settle(const at::Tensor& made) {
  const at::Tensor wanted = std::exchange(wanted_, {});
  const bool fills =
      made.defined() && made.device().is_cpu() && !made.is_mkldnn() && fills_memory(made);
  switch (state_) {
    case State::kUnknown:
      bytes_ = fills ? made.nbytes() : 0;
      state_ = bytes_ > 0 ? State::kSized : State::kHopeless;
      return false;
    case State::kSized: {
      const auto at = std::find(seen_.rbegin(), seen_.rend(), made.data_ptr());
      state_ = at == seen_.rend() ? State::kHopeless : State::kKnown;
      turn_ = static_cast<std::size_t>(seen_.rend() - at) - 1;
      seen_.clear();
      return false;
    }
    case State::kKnown:
      if (!wanted.defined()) return false;
      if (fills && made.data_ptr() == wanted.data_ptr() && made.sizes() == wanted.sizes() &&
          made.strides() == wanted.strides() && made.dtype() == wanted.dtype()) {
        return true;
      }
      state_ = State::kHopeless;
      return false;
    case State::kHopeless:
      return false;
  }
  return false;
}

}  // namespace pareto::runtime
