#include "partitioner/model/zoo/pickle_writer.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "partitioner/model/zoo/pickle.h"

namespace pareto::model::zoo {
namespace {

/// Writes opcodes of pickle's protocol 2.
class PickleText {
 public:
  void raw(std::string_view bytes) { text_ += bytes; }

  /// Writes a number of 1, 2, 4 or 8 bytes, the lowest one first.
  void little_endian(std::uint64_t number, int bytes) {
    for (int i = 0; i < bytes; ++i) text_ += static_cast<char>(number >> (8 * i) & 0xff);
  }

  /// Writes "module name" as a global.
  void global(std::string_view name) {
    const std::size_t space = name.find(' ');
    text_ += 'c';
    text_ += name.substr(0, space);
    text_ += '\n';
    text_ += name.substr(space + 1);
    text_ += '\n';
  }

  Expected<> text(std::string_view text) {
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) {
      return fail(ErrorCode::kInvalidArgument, "a name of {} bytes", text.size());
    }
    text_ += 'X';
    little_endian(text.size(), 4);
    text_ += text;
    return {};
  }

  void number(std::int64_t number) {
    if (number >= 0 && number < 256) {
      text_ += 'K';
      little_endian(static_cast<std::uint64_t>(number), 1);
    } else if (std::in_range<std::int32_t>(number)) {
      text_ += 'J';
      little_endian(static_cast<std::uint64_t>(number), 4);
    } else {
      text_ += "\x8a\x08";  // LONG1 of 8 bytes
      little_endian(static_cast<std::uint64_t>(number), 8);
    }
  }

  void numbers(const std::vector<std::int64_t>& numbers) {
    text_ += '(';
    for (const std::int64_t one : numbers) number(one);
    text_ += 't';
  }

  std::string take() && { return std::move(text_); }

 private:
  std::string text_;
};

std::vector<std::int64_t> row_major_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i > 1; --i) {
    strides[i - 2] = strides[i - 1] * std::max<std::int64_t>(shape[i - 1], 1);
  }
  return strides;
}

/// Writes torch._utils._rebuild_tensor_v2(storage, 0, sizes, strides, False, OrderedDict()).
Expected<> write_tensor(PickleText& out, const Tensor& tensor, std::size_t storage) {
  PARETO_ASSIGN(const std::string_view type, storage_type_of(tensor.dtype()));
  PARETO_ASSIGN(const std::int64_t elements, element_count(tensor.shape()));
  out.global("torch._utils _rebuild_tensor_v2");
  out.raw("((");
  PARETO_TRY(out.text("storage"));
  out.global(type);
  PARETO_TRY(out.text(fmt::format("{}", storage)));
  PARETO_TRY(out.text("cpu"));
  out.number(elements);
  out.raw("tQ");
  out.number(0);
  out.numbers(tensor.shape());
  out.numbers(row_major_strides(tensor.shape()));
  out.raw("\x89");
  out.global("collections OrderedDict");
  out.raw(")RtR");
  return {};
}

}  // namespace

Expected<PickledState> pickle_state(const Entries& entries) {
  PickledState state;
  // A storage has one type: torch.load gives all its tensors that of the first.
  std::map<std::tuple<const std::byte*, std::size_t, DType>, std::size_t> known;
  PickleText out;
  out.raw("\x80\x02");
  out.global("collections OrderedDict");
  out.raw(")R(");
  for (const auto& [name, tensor] : entries) {
    PARETO_ASSIGN(Tensor dense, row_major(tensor));
    const auto [place, fresh] = known.try_emplace(
        std::tuple(dense.bytes().data(), dense.size_bytes(), dense.dtype()), state.storages.size());
    PARETO_TRY(out.text(name));
    PARETO_TRY(with_context(write_tensor(out, dense, place->second), "\"{}\"", name));
    if (fresh) state.storages.push_back(std::move(dense));
  }
  out.raw("u.");
  state.pickle = std::move(out).take();
  return state;
}

}  // namespace pareto::model::zoo
