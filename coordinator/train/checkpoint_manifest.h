// The manifest of a checkpoint: text next to the bytes of its tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/train/training_setup.h"
#include "coordinator/train/training_state.h"
#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/tensor/tensor.h"

namespace pareto::train {

/// A tensor of tensors.bin. They lie one behind the other, in the order of the list.
struct TensorEntry {
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::uint64_t size_bytes = 0;  ///< follows from dtype and shape
  Digest digest;                 ///< SHA-256 of the bytes, row by row
};

struct CheckpointManifest {
  TrainingSetup setup;
  TrainingProgress progress;
  std::vector<TensorEntry> tensors;
};

/// Returns the text, which ends with the SHA-256 of all before it.
std::string manifest_text(const CheckpointManifest& manifest);
/// Reads a manifest, whose digest is checked first. Fails: kCorrupt (no JSON, other bytes than were
/// written, a version that is not known, a name twice, sizes that are impossible), naming the key.
Expected<CheckpointManifest> manifest_from_text(const std::string& text);

}  // namespace pareto::train
