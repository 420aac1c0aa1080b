// Files of models. A plug: one file that implements ModelReader, one line in builtin_readers.cc,
// one suite over all (tests/partitioner/model/readers/model_reader_test.cc).
//
//   file --read_ends--> FileEnds --recognises--> the reader of its format --read--> Flat
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "partitioner/model/readers/file_ends.h"

namespace pareto::model {

struct Flat;

/// A format of files that hold a model's graph and its weights. Threads: any; a reader has no
/// state.
class ModelReader {
 public:
  virtual ~ModelReader() = default;
  /// Returns "TorchScript": help texts and errors speak of a "TorchScript file".
  virtual std::string_view name() const = 0;
  /// Returns how a file of this format is made: "save a module with …".
  virtual std::string_view how_to_make() const = 0;
  /// Returns what the names of such files end in: ".pt". A name with such an end is a file's, and
  /// never a built-in model's.
  virtual std::vector<std::string_view> extensions() const = 0;
  /// Returns whether a file with these ends has this format. They are foreign bytes. A reader takes
  /// no file of another reader's format.
  virtual bool recognises(const FileEnds& ends) const = 0;
  /// Reads the graph and the weights of a file that it recognises. Error messages leave the file's
  /// name out. Fails: kCorrupt (damaged, or operators that this build lacks), kInvalidArgument (the
  /// model does what Flat cannot hold).
  virtual Expected<Flat> read(const std::filesystem::path& path) const = 0;
};

/// Readers, in the order of their names in help texts.
using ModelReaders = std::vector<const ModelReader*>;

/// Returns every reader of this build. They live as long as the process.
const ModelReaders& builtin_readers();

/// Returns the names of the formats: "TorchScript", "TorchScript or ONNX".
std::string format_names(const ModelReaders& readers = builtin_readers());

/// Returns whether a name ends as those of model files do, be they read or only known.
bool has_model_extension(std::string_view name, const ModelReaders& readers = builtin_readers());

/// Reads a file with the reader that recognises it, and names the model after the file. Fails:
/// whatever read_ends() and the reader return, and kCorrupt if no reader recognises the file: what
/// it looks like, which formats are read, and the remedy.
Expected<Flat> read_model(const std::filesystem::path& path,
                          const ModelReaders& readers = builtin_readers());

}  // namespace pareto::model
