// Tensors that are made where they are wanted: parts of a batch, in their rows of the whole one.
// Sees LibTorch: for runtime sources only.
#pragma once

#include <torch/script.h>

#include <cstddef>
#include <optional>
#include <vector>

namespace pareto::runtime {

/// One tensor that a computation makes again and again, and the memory that it shall lie in.
///
/// Operators ask for the memory of their results themselves. The first run tells how many bytes the
/// tensor has, and the second which of the pieces of that size it lies in: computations ask for
/// memory in the same order each time. From then on that piece is the one that is wanted.
///
/// Threads: one at a time.
class OutputPlace {
 public:
  /// The time in which a thread makes the tensor. At most one of a thread lasts at a time.
  class Scope {
   public:
    explicit Scope(std::vector<OutputPlace*> places);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    std::vector<OutputPlace*> places_;
  };

  /// Before a run: names the memory that is wanted, with the sizes and strides of the tensor. It is
  /// a part of a larger tensor, or undefined if none is known.
  void want(at::Tensor wanted);
  /// After a run: returns whether the tensor that was made lies there.
  bool settle(const at::Tensor& made);

  /// Counts a request for memory. Returns the wanted memory if it is this request's turn to have
  /// it, else nothing.
  std::optional<c10::DataPtr> give(std::size_t bytes);
  /// Hears which memory the request got.
  void see(std::size_t bytes, const void* data);

 private:
  enum class State { kUnknown, kSized, kKnown, kHopeless };

  State state_ = State::kUnknown;
  std::size_t bytes_ = 0;            ///< bytes of its memory
  std::size_t turn_ = 0;             ///< its number among all requests for as many
  std::size_t asked_ = 0;            ///< requests of this run so far
  std::vector<const void*> seen_{};  ///< what they got, while its turn is not known
  at::Tensor wanted_{};
};

}  // namespace pareto::runtime
