// Facts about a model's inputs before it runs: sizes, the batch dimension, dtype, and values that
// people give. No LibTorch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/tensor.h"
#include "core/tensor/value_spec.h"
#include "partitioner/model/graph/varying_size.h"

namespace pareto::model {

/// A dimension of an input that may have several sizes: least, least + step, and so on up to most.
struct SizeRange {
  std::size_t at = 0;  ///< its place among InputShape::per_sample, which has one of the sizes
  std::int64_t least = 1;
  std::int64_t most = 1;
  std::int64_t step = 1;
  bool operator==(const SizeRange&) const = default;
};

/// One input of a model.
struct InputShape {
  Shape per_sample;  ///< its sizes without the batch
  DType dtype = DType::kFloat32;
  /// Place of the batch among the sizes; no value means no batch.
  std::optional<std::size_t> batch_at = 0;
  std::optional<IntegerRange> range{};  ///< range that made-up integers or bools are drawn from
  std::optional<Tensor> data{};         ///< values to use in place of made-up ones, row-major
  std::vector<SizeRange> sizes{};       ///< dimensions that vary, in their order
};

/// Reads shapes as they are written on a command line, separated by ';':
///
///   3x224x224   128:int64   scalar:bool      per sample, the batch stands in front
///   Bx5x6;2xBx8;10x10:bool                   whole, if any of them names the batch: B
///   [2x78]:int64                             whole
///   7:int64=1..39   scalar:int64=7           integers or bools within a range
///   3x192..256x192..256   3x192..256/32x224  sizes within a range; every 32nd of them
///
/// Fails: kInvalidArgument naming the part.
Expected<std::vector<InputShape>> parse_input_shapes(std::string_view text);
/// Writes shapes so that parse_input_shapes() reads them again, without the data.
std::string to_text(const std::vector<InputShape>& shapes);

/// Returns the sizes of the inputs that vary: the k-th range of each input is one size, H and W of
/// two. Fails: kInvalidArgument (inputs whose k-th ranges differ).
Expected<std::vector<VaryingSize>> varying_sizes(const std::vector<InputShape>& shapes);
/// Returns the sizes that the inputs have now, in that order.
std::vector<std::int64_t> nominal_sizes(const std::vector<InputShape>& shapes);
/// Returns the inputs at those sizes. Data of other sizes are dropped.
std::vector<InputShape> with_sizes(std::vector<InputShape> shapes,
                                   const std::vector<std::int64_t>& sizes);
/// Returns the inputs at the sizes that they have now, and no others.
std::vector<InputShape> without_ranges(std::vector<InputShape> shapes);
/// Returns whether a tensor is of that dtype and, but for the batch, of a shape that the input may
/// have.
bool fits(const InputShape& shape, const Tensor& tensor);

/// Returns the whole spec of an input.
ValueSpec input_spec(const InputShape& shape);

/// Puts data into the inputs. Without `shapes` the batch is the first dimension of each. `names`:
/// of the data, for errors. Fails: kInvalidArgument (another number or dtype, sizes that do not
/// fit, unequal batches).
Expected<std::vector<InputShape>> with_data(std::vector<InputShape> shapes,
                                            std::vector<Tensor> data,
                                            const std::vector<std::string>& names);
/// Returns the batch that the inputs' data have; no value if there are no data, or they have no
/// batch.
std::optional<std::int64_t> batch_of_data(const std::vector<InputShape>& shapes);
/// Returns whether some input has a batch.
bool has_batch(const std::vector<InputShape>& shapes);
/// Returns whether some input is of integers or bools that nobody gave values or a range for.
bool has_made_up_integers(const std::vector<InputShape>& shapes);

/// Makes one request: the first `batch` samples of the data, which begin again after the last one,
/// or a made-up value. Fails: as make_example().
Expected<Value> example_of(const InputShape& shape, std::int64_t batch, std::uint64_t seed);

}  // namespace pareto::model
