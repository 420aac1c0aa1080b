// Tensors of a checkpoint: what its pickle says, held against the bytes that there are. No
// LibTorch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/tensor/tensor.h"
#include "partitioner/model/zoo/pickle.h"

namespace pareto::model::zoo {

/// Named tensors in the order of the file.
using Entries = std::vector<std::pair<std::string, Tensor>>;

struct StorageBytes {
  const std::byte* data = nullptr;
  std::uint64_t size = 0;
  std::shared_ptr<const void> owner;
};

/// Returns the bytes of a storage. Fails: kCorrupt (there is none of that key).
using Storages = std::function<Expected<StorageBytes>(const PickleStorage&)>;

/// Returns the tensors of a state_dict, or of one that a training script has put into another dict.
/// Tensors borrow the storages' bytes if these lie row by row, else they are copies. Fails:
/// kCorrupt (no state_dict, a tensor that does not fit its storage, or copies far larger than the
/// storages).
Expected<Entries> entries_of(const PickleRef& root, const Storages& storages);

/// Reads the older form of torch.save: pickles one after another, then the storages. Fails:
/// kCorrupt, and whatever read_file returns.
Expected<Entries> read_legacy_checkpoint(const std::filesystem::path& path);

}  // namespace pareto::model::zoo
