#include "partitioner/model/graph/input_shape.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/counted.h"
#include "core/base/text.h"

namespace pareto::model {
namespace {

constexpr std::string_view kBatch = "B";

/// Splits like split_list(), but keeps what is empty: "3xx8" has three parts.
std::vector<std::string> split_parts(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    // Without blanks around it, one part at most.
    const std::vector<std::string> part = split_list(text.substr(0, at), separator);
    parts.push_back(part.empty() ? "" : part.front());
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

bool names_batch(const std::string& text) {
  const std::string sizes = text.substr(0, text.find_first_of(":="));
  return std::ranges::count(split_list(sizes, 'x'), kBatch) > 0;
}

template <typename... Arguments>
tl::unexpected<Error> bad(const std::string& text, fmt::format_string<Arguments...> format,
                          Arguments&&... arguments) {
  return fail(ErrorCode::kInvalidArgument, "input shape \"{}\": {}", text,
              fmt::format(format, std::forward<Arguments>(arguments)...));
}

std::optional<std::int64_t> parse_whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Reads "1..39" or "7".
Expected<IntegerRange> parse_range(const std::string& text, std::string_view range, DType dtype) {
  const auto limits = limits_of(dtype);
  if (!limits) return bad(text, "only integers and bools have a range, not {}", to_string(dtype));
  const auto dots = range.find("..");
  const auto low = parse_whole_number(range.substr(0, dots));
  const auto high =
      dots == std::string_view::npos ? low : parse_whole_number(range.substr(dots + 2));
  if (!low || !high || *low > *high) {
    return bad(text, "\"{}\" is no range (write 1..39, or one number)", range);
  }
  if (*low < limits->low || *high > limits->high) {
    return bad(text, "{} holds {} to {}", to_string(dtype), limits->low, limits->high);
  }
  return IntegerRange{*low, *high};
}

/// Reads "192..256" or "192..256/32", a range of sizes of the dimension `at`. `text`: for errors.
Expected<SizeRange> parse_size_range(const std::string& text, const std::string& part,
                                     std::size_t at) {
  const std::size_t dots = part.find("..");
  const std::size_t slash = part.find('/', dots);
  const auto least = parse_whole_number(std::string_view(part).substr(0, dots));
  const auto most = parse_whole_number(std::string_view(part).substr(
      dots + 2, slash == std::string::npos ? std::string::npos : slash - dots - 2));
  const auto step = slash == std::string::npos
                        ? std::optional<std::int64_t>(1)
                        : parse_whole_number(std::string_view(part).substr(slash + 1));
  if (!least || !most || !step || *least < 1 || *step < 1 || *most <= *least ||
      *step > *most - *least) {
    return bad(text, "\"{}\" is no range of sizes (write 192..256, or 192..256/32 for every 32nd)",
               part);
  }
  return SizeRange{at, *least, *least + (*most - *least) / *step * *step, *step};
}

/// Says where the part at `i` of a list is missing: "behind \"3x\"".
std::string place_in(const std::vector<std::string>& parts, std::size_t i, char separator) {
  if (i == 0) return fmt::format("before the first '{}'", separator);
  return fmt::format("behind \"{}{}\"", join(std::span(parts).first(i), {&separator, 1}),
                     separator);
}

/// Reads "3x224x224" or, if it is whole, "2xBx8". `text`: for errors.
Expected<> parse_sizes(const std::string& text, const std::string& sizes, bool whole,
                       InputShape& input) {
  if (whole) input.batch_at.reset();
  if (sizes == "scalar") return {};
  const auto parts = split_parts(sizes, 'x');
  if (parts.size() == 1 && parts.front().empty()) {
    return bad(text, "it has no sizes (write 3x224x224, or scalar)");
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty()) return bad(text, "a size is missing {}", place_in(parts, i, 'x'));
    if (whole && parts[i] == kBatch) {
      if (input.batch_at) return bad(text, "it names the batch twice");
      input.batch_at = i;
      continue;
    }
    if (parts[i].find("..") != std::string::npos) {
      PARETO_ASSIGN(const SizeRange range,
                    parse_size_range(text, parts[i], input.per_sample.size()));
      input.sizes.push_back(range);
      input.per_sample.push_back(range.most);
      continue;
    }
    const auto size = parse_whole_number(parts[i]);
    if (!size || *size < 1) {
      return bad(text, "\"{}\" is no size (write 3x224x224, without the batch, or Bx3x224x224)",
                 parts[i]);
    }
    input.per_sample.push_back(*size);
  }
  return with_context(element_count(input.per_sample), "input shape \"{}\"", text)
      .map([](std::int64_t) {});
}

Expected<InputShape> parse_input_shape(const std::string& text, bool whole) {
  InputShape input;
  std::string rest = text;
  std::optional<std::string> range;
  if (const auto at = rest.find('='); at != std::string::npos) {
    range = rest.substr(at + 1);
    rest.resize(at);
  }
  if (const auto at = rest.find(':'); at != std::string::npos) {
    const std::string name = rest.substr(at + 1);
    const auto dtype = dtype_from_string(name);
    if (!dtype) return bad(text, "no dtype \"{}\" (float32, int64, bool, …)", name);
    input.dtype = *dtype;
    rest.resize(at);
  }
  if (rest.starts_with('[') && rest.ends_with(']')) {
    rest = rest.substr(1, rest.size() - 2);
    whole = true;
  }
  PARETO_TRY(parse_sizes(text, rest, whole, input));
  if (range) {
    PARETO_ASSIGN(input.range, parse_range(text, *range, input.dtype));
  }
  return input;
}

std::string sizes_text(const InputShape& shape, bool whole) {
  std::vector<std::string> parts;
  for (const std::int64_t size : shape.per_sample) parts.push_back(std::to_string(size));
  for (const SizeRange& range : shape.sizes) {
    parts[range.at] = fmt::format("{}..{}", range.least, range.most);
    if (range.step != 1) parts[range.at] += fmt::format("/{}", range.step);
  }
  if (whole && shape.batch_at) {
    parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(*shape.batch_at), std::string(kBatch));
  }
  return parts.empty() ? "scalar" : join(parts, "x");
}

template <typename Element>
IntegerRange range_of_elements(const Tensor& tensor) {
  IntegerRange range{std::numeric_limits<std::int64_t>::max(),
                     std::numeric_limits<std::int64_t>::min()};
  for (std::size_t at = 0; at < tensor.size_bytes(); at += sizeof(Element)) {
    Element element{};
    std::memcpy(&element, tensor.bytes().data() + at, sizeof element);
    range.low = std::min<std::int64_t>(range.low, element);
    range.high = std::max<std::int64_t>(range.high, element);
  }
  return range;
}

std::optional<IntegerRange> range_of(const Tensor& tensor) {
  if (tensor.size_bytes() == 0) return std::nullopt;
  switch (tensor.dtype()) {
    case DType::kUInt8:
      // The next picture may hold any of them.
      return limits_of(tensor.dtype());
    case DType::kBool:
      return range_of_elements<std::uint8_t>(tensor);
    case DType::kInt8:
      return range_of_elements<std::int8_t>(tensor);
    case DType::kInt16:
      return range_of_elements<std::int16_t>(tensor);
    case DType::kInt32:
      return range_of_elements<std::int32_t>(tensor);
    case DType::kInt64:
      return range_of_elements<std::int64_t>(tensor);
    default:
      return std::nullopt;
  }
}

/// Returns the shape that a tensor has if its first dimension is the batch. A scalar has none.
InputShape shape_of(const Tensor& tensor) {
  InputShape shape;
  shape.dtype = tensor.dtype();
  if (tensor.shape().empty()) {
    shape.batch_at.reset();
  } else {
    shape.per_sample.assign(tensor.shape().begin() + 1, tensor.shape().end());
  }
  return shape;
}

/// Returns the sizes of a tensor without the batch; no value if it lacks that dimension.
std::optional<Shape> sizes_of_sample(const InputShape& shape, const Tensor& tensor) {
  Shape sizes = tensor.shape();
  if (shape.batch_at) {
    if (*shape.batch_at >= sizes.size()) return std::nullopt;
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(*shape.batch_at));
  }
  return sizes;
}

/// Returns samples 0 … batch - 1 of a row-major tensor along one dimension, from the first again
/// after the last one.
Expected<Tensor> samples(const Tensor& tensor, std::size_t dimension, std::int64_t batch) {
  Shape shape = tensor.shape();
  const std::int64_t present = std::exchange(shape[dimension], batch);
  if (present == batch) return tensor;
  const auto product = [](auto begin, auto end) {
    return std::accumulate(begin, end, std::size_t{1}, [](std::size_t all, std::int64_t size) {
      return all * static_cast<std::size_t>(size);
    });
  };
  const auto at = shape.begin() + static_cast<std::ptrdiff_t>(dimension);
  const std::size_t before = product(shape.begin(), at);
  const std::size_t row = product(at + 1, shape.end()) * size_of(tensor.dtype());
  PARETO_ASSIGN(Tensor taken, Tensor::allocate(tensor.dtype(), std::move(shape)));
  std::byte* to = taken.mutable_bytes().data();
  for (std::size_t outer = 0; outer < before && row > 0; ++outer) {
    const std::byte* const from =
        tensor.bytes().data() + outer * static_cast<std::size_t>(present) * row;
    for (std::int64_t i = 0; i < batch; ++i, to += row) {
      std::memcpy(to, from + static_cast<std::size_t>(i % present) * row, row);
    }
  }
  return taken;
}

}  // namespace

Expected<std::vector<InputShape>> parse_input_shapes(std::string_view text) {
  const std::vector<std::string> parts = split_parts(text, ';');
  if (parts.size() == 1 && parts.front().empty()) {
    return fail(ErrorCode::kInvalidArgument, "no input shape is given");
  }
  const bool whole = std::ranges::any_of(parts, names_batch);
  std::vector<InputShape> inputs;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].empty()) {
      return bad(std::string(text), "an input is missing {}: each ';' stands between two inputs",
                 place_in(parts, i, ';'));
    }
    PARETO_ASSIGN(InputShape input, parse_input_shape(parts[i], whole));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

std::string to_text(const std::vector<InputShape>& shapes) {
  const bool in_front = std::ranges::all_of(
      shapes, [](const InputShape& shape) { return shape.batch_at == std::size_t{0}; });
  std::vector<std::string> parts;
  for (const InputShape& shape : shapes) {
    std::string& part = parts.emplace_back(sizes_text(shape, !in_front));
    if (!in_front) part = "[" + part + "]";
    if (shape.dtype != DType::kFloat32) part += fmt::format(":{}", to_string(shape.dtype));
    if (!shape.range) continue;
    part += fmt::format("={}", shape.range->low);
    if (shape.range->low != shape.range->high) part += fmt::format("..{}", shape.range->high);
  }
  return join(parts, ";");
}

bool fits(const InputShape& shape, const Tensor& tensor) {
  const std::optional<Shape> sizes = sizes_of_sample(shape, tensor);
  if (tensor.dtype() != shape.dtype || !sizes || sizes->size() != shape.per_sample.size()) {
    return false;
  }
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    const auto range = std::ranges::find(shape.sizes, i, &SizeRange::at);
    const std::int64_t size = (*sizes)[i];
    const bool is_allowed =
        range == shape.sizes.end()
            ? size == shape.per_sample[i]
            : VaryingSize{"", range->least, range->most, range->step}.holds(size);
    if (!is_allowed) return false;
  }
  return true;
}

ValueSpec input_spec(const InputShape& shape) {
  ValueSpec spec;
  spec.kind = ValueSpec::Kind::kTensor;
  spec.tensor.dtype = shape.dtype;
  spec.range = shape.range;
  for (const std::int64_t size : shape.per_sample) spec.tensor.dims.push_back({size, 0});
  if (shape.batch_at) {
    const auto at = static_cast<std::ptrdiff_t>(*shape.batch_at);
    spec.tensor.dims.insert(spec.tensor.dims.begin() + at, {0, 1});
  }
  return spec;
}

Expected<std::vector<InputShape>> with_data(std::vector<InputShape> shapes,
                                            std::vector<Tensor> data,
                                            const std::vector<std::string>& names) {
  const bool given = !shapes.empty();
  if (given && shapes.size() != data.size()) {
    return fail(ErrorCode::kInvalidArgument, "{} and {}: one of each an input",
                counted(data.size(), "file"), counted(shapes.size(), "shape"));
  }
  std::optional<std::pair<std::size_t, std::int64_t>> first;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (!given) shapes.push_back(shape_of(data[i]));
    InputShape& shape = shapes[i];
    if (!fits(shape, data[i])) {
      return fail(ErrorCode::kInvalidArgument, "{}: {}[{}] does not fit the shape {}", names[i],
                  to_string(data[i].dtype()), to_string(data[i].shape()),
                  input_spec(shape).describe());
    }
    if (shape.batch_at) {
      const std::int64_t batch = data[i].shape()[*shape.batch_at];
      if (batch < 1) {
        return fail(ErrorCode::kInvalidArgument, "{}: its batch, dimension {}, is {}", names[i],
                    *shape.batch_at, batch);
      }
      if (!first) first = {i, batch};
      if (first->second != batch) {
        return fail(ErrorCode::kInvalidArgument,
                    "{} has a batch of {} and {} one of {}: if the batch is not the first "
                    "dimension of each, say where it stands, as in --input-shape \"Bx5x6;2xBx8\" "
                    "(an input without a batch has no B)",
                    names[first->first], first->second, names[i], batch);
      }
    }
    // The data are of one of the sizes that may vary.
    shape.per_sample = *sizes_of_sample(shape, data[i]);
    shape.range = range_of(data[i]);
    PARETO_ASSIGN(shape.data, row_major(data[i]));
  }
  return shapes;
}

std::optional<std::int64_t> batch_of_data(const std::vector<InputShape>& shapes) {
  for (const InputShape& shape : shapes) {
    if (shape.data && shape.batch_at) return shape.data->shape()[*shape.batch_at];
  }
  return std::nullopt;
}

bool has_batch(const std::vector<InputShape>& shapes) {
  return std::ranges::any_of(shapes,
                             [](const InputShape& shape) { return shape.batch_at.has_value(); });
}

bool has_made_up_integers(const std::vector<InputShape>& shapes) {
  return std::ranges::any_of(shapes, [](const InputShape& shape) {
    return !shape.range && !shape.data && limits_of(shape.dtype).has_value();
  });
}

Expected<Value> example_of(const InputShape& shape, std::int64_t batch, std::uint64_t seed) {
  if (!shape.data) return make_example(input_spec(shape), batch, seed);
  if (!shape.batch_at) return Value(*shape.data);
  PARETO_ASSIGN(Tensor taken, samples(*shape.data, *shape.batch_at, batch));
  return Value(std::move(taken));
}

}  // namespace pareto::model
