// Pickles as torch.save writes them, byte for byte, for tests of who reads them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace pareto::test {

/// A view of a storage, as a state_dict holds it.
struct PickledTensor {
  std::string name;
  std::string key;
  std::int32_t elements = 0;  ///< number in the storage
  std::int32_t offset = 0;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::string type = "FloatStorage";
};

inline std::string pickled_text(std::string_view text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  std::string bytes(5, 'X');
  std::memcpy(bytes.data() + 1, &size, sizeof size);
  return bytes.append(text);
}

/// Writes a number of eight bytes, as Python does with LONG1.
inline std::string pickled_number(std::int64_t number) {
  std::string bytes("\x8a\x08", 2);
  bytes.resize(10);
  std::memcpy(bytes.data() + 2, &number, sizeof number);
  return bytes;
}

inline std::string pickled_numbers(const std::vector<std::int64_t>& numbers) {
  std::string bytes = "(";
  for (const std::int64_t number : numbers) bytes += pickled_number(number);
  return bytes + "t";
}

inline std::string pickled(const PickledTensor& tensor) {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + pickled_text("storage") + "ctorch\n" +
         tensor.type + "\n" + pickled_text(tensor.key) + pickled_text("cpu") +
         pickled_number(tensor.elements) + "tQ" + pickled_number(tensor.offset) +
         pickled_numbers(tensor.shape) + pickled_numbers(tensor.strides) +
         "\x89"
         "ccollections\nOrderedDict\n)RtR";
}

inline std::string pickled(const std::vector<PickledTensor>& tensors) {
  std::string bytes =
      "\x80\x02"
      "ccollections\nOrderedDict\n)R(";
  for (const PickledTensor& tensor : tensors) bytes += pickled_text(tensor.name) + pickled(tensor);
  return bytes + "u.";
}

}  // namespace pareto::test
