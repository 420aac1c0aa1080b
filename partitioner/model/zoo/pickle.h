// The part of Python's pickle that a state_dict needs, read as data: nothing named in it is ever
// looked up or run. Foreign bytes: every length is checked, nesting and counts are bounded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/tensor.h"

namespace pareto::model::zoo {

struct PickleItem;
using PickleRef = std::shared_ptr<PickleItem>;

/// "torch._utils _rebuild_tensor_v2": a name from the whitelist, with no meaning of its own.
struct PickleGlobal {
  std::string name;
};
/// The storage that a persistent id stands for: bytes kept elsewhere in the file.
struct PickleStorage {
  std::string key;
  DType dtype = DType::kFloat32;
  std::int64_t elements = 0;
};
/// A view of a storage, sizes and offsets in elements; not yet checked against the storage.
struct PickleTensor {
  PickleStorage storage;
  std::int64_t offset = 0;
  Shape shape;
  std::vector<std::int64_t> strides;
};
/// list, tuple or the mark between items on the stack.
struct PickleSequence {
  std::vector<PickleRef> items;
};
struct PickleDict {
  std::vector<std::pair<PickleRef, PickleRef>> items;
};
struct PickleMark {};

struct PickleItem {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, PickleGlobal, PickleStorage,
               PickleTensor, PickleSequence, PickleDict, PickleMark>
      value;
  int depth = 0;      ///< depth of containers below
  bool held = false;  ///< whether a container holds it, which counts with that depth
};

/// Reads one pickle from the front of `bytes`, which then begins behind it. Fails: kCorrupt, naming
/// the opcode or global that is not part of a state_dict.
Expected<PickleRef> read_pickle(std::string_view& bytes);

/// Returns the global that names storages of a dtype: "torch FloatStorage". Fails: kInvalidArgument
/// (there is none).
Expected<std::string_view> storage_type_of(DType dtype);

}  // namespace pareto::model::zoo
