#include "partitioner/model/graph/run_errors.h"

#include <algorithm>
#include <charconv>
#include <regex>

#include "core/base/text.h"
#include "runtime/torch/compat.h"

namespace pareto::model {
namespace {

constexpr std::int64_t kMostConcluded = 1 << 16;
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

std::optional<std::int64_t> whole_number(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Returns what may be wrong with shapes that a model does not run on, or nothing. `line`: what
/// LibTorch says.
std::string shape_hint(const std::string& line, const std::vector<InputShape>& shapes) {
  const auto says = [&](std::string_view part) { return line.find(part) != std::string::npos; };
  const auto find = [&](auto is_it) {
    const auto found = std::ranges::find_if(shapes, is_it);
    return found == shapes.end() ? nullptr : &*found;
  };
  const auto flag = [](const InputShape& shape) { return "--input-shape " + to_text({shape}); };
  if (says("scalar types: Long, Int")) {
    const auto* real = find([](const auto& shape) { return shape.dtype == DType::kFloat32; });
    if (real == nullptr) return {};
    InputShape whole = *real;
    whole.dtype = DType::kInt64;
    whole.data.reset();
    return fmt::format(" (an input of whole numbers is needed, as in {})", flag(whole));
  }
  if (says("index out of range")) {
    const auto* ranged = find([](const auto& shape) { return shape.range && !shape.data; });
    if (ranged == nullptr) return {};
    InputShape smaller = *ranged;
    smaller.range = IntegerRange{0, ranged->range->high / 10};
    return fmt::format(
        " (a number is larger than the table that it is looked up in: name a "
        "smaller range, as in {})",
        flag(smaller));
  }
  const auto* batched = find([](const auto& shape) {
    return !shape.data && shape.batch_at == std::size_t{0} && shape.per_sample.size() > 1 &&
           shape.per_sample.front() == 1;
  });
  if (batched == nullptr) return {};
  InputShape sample = *batched;
  sample.per_sample.erase(sample.per_sample.begin());
  return fmt::format(
      " (sizes are those of one sample; if the first 1 is the batch, leave it out: "
      "{})",
      flag(sample));
}

}  // namespace

std::string input_name(const torch::jit::Value* input) {
  std::string name = input->debugName();
  const std::size_t dot = name.find_last_not_of("0123456789");
  if (dot != std::string::npos && dot > 0 && dot + 1 < name.size() && name[dot] == '.') {
    name.resize(dot);
  }
  return name;
}

std::vector<std::string> input_names(const Flat& flat) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < flat.model_inputs; ++i) {
    names.push_back(input_name(flat.graph->inputs()[i]));
  }
  return names;
}

std::string describe_examples(const std::vector<InputShape>& shapes,
                              const std::vector<std::string>& names, std::int64_t batch) {
  std::vector<std::string> examples;
  bool doubles = false;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const InputShape& shape = shapes[i];
    examples.push_back(fmt::format("{}{}[{}]", shapes.size() > 1 ? names[i] + " = " : "",
                                   to_string(shape.dtype),
                                   to_string(input_spec(shape).tensor.shape(batch))));
    doubles = doubles || (shape.data && shape.dtype == DType::kFloat64);
  }
  std::string text = join(examples, " and ");
  if (has_made_up_integers(shapes)) {
    text +=
        " (example integers are zeros, and bools true: give your data, --input FILE.npy, or a "
        "range, as in --input-shape \"7:int64=1..39\")";
  }
  if (doubles) text += " (float64 is what NumPy makes if nothing is said: x.astype('float32'))";
  return text;
}

std::optional<std::int64_t> batch_in_error(const std::string& error, std::int64_t batch) {
  static const std::regex kShape(R"(shape '\[([0-9, ]+)\]' is invalid for input of size ([0-9]+))");
  static const std::regex kSizes(
      R"(size of tensor a \(([0-9]{1,9})\) must match the size of tensor b \(([0-9]{1,9})\))");
  std::smatch found;
  // At the batch that it holds, `wanted` would be what is now `present`.
  const auto scaled = [&](std::int64_t wanted,
                          std::int64_t present) -> std::optional<std::int64_t> {
    if (present < batch || present % batch != 0 || wanted % (present / batch) != 0) return {};
    const std::int64_t held = wanted / (present / batch);
    return held >= 1 && held != batch && held <= kMostConcluded ? std::optional(held)
                                                                : std::nullopt;
  };
  if (std::regex_search(error, found, kShape)) {
    const auto present = whole_number(found[2].str());
    std::int64_t wanted = 1;
    for (const std::string& part : split_list(found[1].str())) {
      const auto size = whole_number(part);
      if (!size || *size < 1 || wanted > kMostElements / *size) return {};
      wanted *= *size;
    }
    return present ? scaled(wanted, *present) : std::nullopt;
  }
  if (std::regex_search(error, found, kSizes)) {
    const auto a = whole_number(found[1].str());
    const auto b = whole_number(found[2].str());
    if (!a || !b) return {};
    const auto held = scaled(*b, *a);
    return held ? held : scaled(*a, *b);
  }
  return {};
}

std::string why_not_run(const std::exception& error, const std::vector<InputShape>& shapes) {
  const std::string line = runtime::first_line(error);
  const auto says = [&](std::string_view part) { return line.find(part) != std::string::npos; };
  if (says("'Half'") || says("c10::Half")) {
    return fmt::format(
        "{}: it computes in half precision, which LibTorch {} cannot do here on a CPU; call its "
        "float() before it is saved",
        line, runtime::torch_version());
  }
  if (dynamic_cast<const torch::jit::JITException*>(&error) != nullptr) {
    const bool is_noise = std::ranges::any_of(
        shapes, [](const InputShape& shape) { return !shape.data.has_value(); });
    return fmt::format("its own check fails: {} ({})", line,
                       is_noise ? "on random numbers: give your data, --input FILE.npy"
                                : "on the data of --input: open it on data that pass; requests "
                                  "that fail may be given to `deploy`, each by itself");
  }
  return line + shape_hint(line, shapes);
}

}  // namespace pareto::model
