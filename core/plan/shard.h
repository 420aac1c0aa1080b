// A shard as a document: what one device needs to become one stage, without weights. Made by
// partitioner/model/emit, sent by the coordinator, loaded by runtime. Format:
// core/plan/FORMAT.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"
#include "core/tensor/value_spec.h"

namespace pareto::plan {

/// One weight of a shard: an attribute of the archive's module, filled on arrival.
struct WeightRef {
  std::string name;  ///< state_dict name: "features.5.conv.0.0.weight"
  Digest digest;     ///< sha256 of its dense row-major bytes
  DType dtype = DType::kFloat32;
  Shape shape;
  bool is_parameter = true;  ///< otherwise it is a buffer
  std::uint64_t size_bytes() const;
};

/// A value on a boundary of the shard.
struct BoundaryValue {
  std::string
      name;  ///< unique in the model; the same value has the same name in the shards on both sides
  ValueSpec spec;
};

struct Shard {
  std::string model;       ///< "mobilenetv2"
  std::int64_t begin = 0;  ///< first operator
  std::int64_t end = 0;    ///< one past the last
  std::string
      archive;  ///< a TorchScript archive whose tensors are empty; its module has one method, "run"
  std::vector<WeightRef> weights;      ///< attributes to fill before "run" is called
  std::uint64_t packed_bytes = 0;      ///< weights of quantised layers, which the archive holds
  std::vector<BoundaryValue> inputs;   ///< arguments of "run", in order
  std::vector<BoundaryValue> outputs;  ///< results of "run" (always a tuple), in order
  std::vector<std::string>
      scopes;                 ///< module path of each operator; scopes do not survive in an archive
  std::string torch_version;  ///< bits are comparable within one version only

  /// Returns the bytes of `weights` and of what is packed.
  std::uint64_t weight_bytes() const;
  /// Returns the SHA-256 over the JSON manifest and the archive: equal shards have equal digests.
  Digest digest() const;
};

/// The copies of the weights that a device sets aside to load a shard: the mapped weights and the
/// copy in the layout that an engine wants. Room for what crosses its boundaries is added.
/// Predictions and daemons compute it alike.
inline constexpr std::int64_t kWeightCopies = 2;
inline constexpr std::int64_t kBoundaryCopies = 4;

/// Returns the bytes that loading a shard takes, its archive included.
std::uint64_t loading_bytes(const Shard& shard, std::int64_t batch);

/// Returns the bytes of all tensors of a boundary at a batch; those of an impossible size are none.
std::uint64_t boundary_bytes(const std::vector<BoundaryValue>& values, std::int64_t batch);
/// The seed of values that a device makes up to look at a shard.
inline constexpr std::uint64_t kExampleSeed = 1;
/// Returns made-up values for a boundary, in order. Fails: as make_example does.
Expected<std::vector<Value>> make_examples(const std::vector<BoundaryValue>& values,
                                           std::int64_t batch, std::uint64_t seed);

/// Writes all but the archive as JSON text; and reads it, with every count, size and name of
/// foreign text checked.
std::string manifest_json(const Shard& shard);
Expected<Shard> shard_from_manifest(const std::string& json, std::string archive);

}  // namespace pareto::plan
