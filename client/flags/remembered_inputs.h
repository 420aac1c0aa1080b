// Remembers the inputs that models were last opened with, next to the results. The content of a
// model's file finds them again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/digest.h"
#include "core/base/error.h"

namespace pareto::client {

struct RememberedInputs {
  std::string input_shape;               ///< shape in the form of --input-shape
  std::vector<std::string> inputs;       ///< absolute paths, as of --input
  std::optional<std::int64_t> batch;     ///< the only one that the model runs at
  std::vector<std::string> operators{};  ///< absolute paths, as of --operators
  bool operator==(const RememberedInputs&) const = default;
};

/// Returns the SHA-256 of a file. Fails: kNotFound, kPermission.
Expected<Digest> digest_of_file(const std::filesystem::path& path);

/// Reads the text of a file; no value if it cannot be read.
std::optional<RememberedInputs> inputs_from_text(const std::string& text);
/// Returns the text that inputs_from_text() reads.
std::string inputs_text(const RememberedInputs& inputs);

/// A folder with one small JSON file a model. Threads: one owner.
class InputMemory {
 public:
  explicit InputMemory(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// Returns what was last remembered; no value if there is none, or if it cannot be read.
  std::optional<RememberedInputs> recall(const Digest& model) const;
  /// Stores the inputs of a model for the next command. Fails: as write_file_atomically().
  Expected<> remember(const Digest& model, const RememberedInputs& inputs) const;

 private:
  std::filesystem::path file_of(const Digest& model) const;

  std::filesystem::path folder_;
};

}  // namespace pareto::client
