#include <fmt/format.h>

#include "partitioner/model/graph/input_shape.h"

namespace pareto::model {

Expected<std::vector<VaryingSize>> varying_sizes(const std::vector<InputShape>& shapes) {
  static const std::vector<std::vector<std::string>> kNames{{"L"}, {"H", "W"}, {"D", "H", "W"}};
  std::vector<VaryingSize> sizes;
  for (std::size_t input = 0; input < shapes.size(); ++input) {
    const std::vector<SizeRange>& ranges = shapes[input].sizes;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      const VaryingSize size{"", ranges[i].least, ranges[i].most, ranges[i].step};
      if (i == sizes.size()) {
        sizes.push_back(size);
      } else if (!(sizes[i] == size)) {
        return fail(
            ErrorCode::kInvalidArgument,
            "range {} of input {} is {}..{}, and that of an input before it {}..{}: they are "
            "one size, and have one range",
            i, input, size.least, size.most, sizes[i].least, sizes[i].most);
      }
    }
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sizes[i].name =
        sizes.size() <= kNames.size() ? kNames[sizes.size() - 1][i] : fmt::format("S{}", i);
  }
  return sizes;
}

std::vector<std::int64_t> nominal_sizes(const std::vector<InputShape>& shapes) {
  std::vector<std::int64_t> sizes;
  for (const InputShape& shape : shapes) {
    for (std::size_t i = sizes.size(); i < shape.sizes.size(); ++i) {
      sizes.push_back(shape.per_sample[shape.sizes[i].at]);
    }
  }
  return sizes;
}

std::vector<InputShape> with_sizes(std::vector<InputShape> shapes,
                                   const std::vector<std::int64_t>& sizes) {
  for (InputShape& shape : shapes) {
    const Shape before = shape.per_sample;
    for (std::size_t i = 0; i < shape.sizes.size() && i < sizes.size(); ++i) {
      shape.per_sample[shape.sizes[i].at] = sizes[i];
    }
    if (shape.per_sample != before) shape.data.reset();
  }
  return shapes;
}

std::vector<InputShape> without_ranges(std::vector<InputShape> shapes) {
  for (InputShape& shape : shapes) shape.sizes.clear();
  return shapes;
}

}  // namespace pareto::model
