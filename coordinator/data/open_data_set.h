// Opens data sets by what people call them:
//
//   DIR            a folder with a folder of pictures for each class
//   cifar10:DIR    CIFAR-10's binary files
//   npy:DIR        inputs.npy and labels.npy
//   synthetic[:N]  N classes, made up from a seed
//
// Formats: coordinator/data/FORMAT.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "coordinator/data/data_set.h"
#include "coordinator/data/preprocessing.h"
#include "core/base/error.h"
#include "core/tensor/tensor.h"

namespace pareto::data {

/// Which samples of a data set that has both.
enum class Part { kTrain, kTest };
/// Returns "train" or "test".
std::string_view to_string(Part part);
/// Reads "train" or "test". Fails: kInvalidArgument.
Expected<Part> parse_part(std::string_view text);

struct DataSetOptions {
  Part part = Part::kTest;  ///< only of CIFAR-10 and made-up samples: others are what DIR holds
  /// Way from pictures to inputs. No value means that it follows from the input's shape:
  /// imagenet_preprocessing(), cifar10_preprocessing().
  std::optional<Preprocessing> preprocessing{};
  /// Shape that the model takes, without the batch: others are refused. {}: not known.
  Shape input_shape{};
  /// Classes that the model tells apart: labels beyond are refused. 0: not known.
  std::int64_t classes = 0;
  std::int64_t samples = 1024;  ///< number of made-up samples
  std::uint64_t seed = 1;       ///< of made-up samples
};

/// A kind of data set.
struct DataSetKind {
  std::string_view name;  ///< the word before ':'; "" is a folder's path
  std::string_view form;  ///< "cifar10:DIR", for people
  std::string_view what;  ///< a few words on it, for people
  /// Opens what stands behind ':'.
  Expected<std::unique_ptr<DataSet>> (*open)(const std::string& rest,
                                             const DataSetOptions& options);
  bool is_of_files = true;  ///< a path stands behind ':'
};
/// Returns all kinds, folders of pictures first.
std::span<const DataSetKind> builtin_data_sets();

/// Opens a data set. Names and sizes of its files are checked, pictures only when they are read.
/// Fails: kNotFound (a file or folder that is not there), kInvalidArgument (no such kind, a class
/// without pictures, labels or shapes that do not fit the model), kCorrupt (a file that is no
/// whole one), naming the file.
Expected<std::unique_ptr<DataSet>> open_data_set(const std::string& spec,
                                                 const DataSetOptions& options = {});

/// Returns the same data set's name with an absolute path, for use in another folder.
std::string with_absolute_path(const std::string& spec);

}  // namespace pareto::data
