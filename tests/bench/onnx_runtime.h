// ONNX Runtime with one model, as a process of Node.js.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/file_descriptor.h"
#include "core/tensor/tensor.h"

namespace pareto::bench {

/// A process that runs one model on one input. It is stopped (SIGSTOP) except while it is asked for
/// something. So its threads may spin as they do by default, and take no time of others.
///
/// Threads: one owner. The process ends with this, or with the thread that started it.
class OnnxRuntime {
 public:
  /// Starts it, with that many threads for an operator, and one for operators. It has run once when
  /// this returns. Fails: kUnavailable (no Node.js, no ONNX Runtime, a model that it refuses),
  /// kTimeout.
  static Expected<std::unique_ptr<OnnxRuntime>> start(const std::filesystem::path& model,
                                                      int threads, const Tensor& input);
  ~OnnxRuntime();
  OnnxRuntime(const OnnxRuntime&) = delete;
  OnnxRuntime& operator=(const OnnxRuntime&) = delete;

  const std::string& version() const { return version_; }
  /// Returns the bytes of the model's output, which are floats.
  Expected<std::string> output() const;
  /// Runs it `count` times. Returns the time of each as the process itself measured it. Fails: as
  /// start().
  Expected<std::vector<Nanoseconds>> run(int count);

 private:
  explicit OnnxRuntime(TemporaryFolder folder) : folder_(std::move(folder)) {}
  Expected<> spawn(std::vector<std::string> argv);
  /// Returns the next line that it prints.
  Expected<std::string> read_line();
  void signal(int number) const;

  TemporaryFolder folder_;
  pid_t pid_ = -1;
  FileDescriptor channel_;  ///< its stdin and stdout
  std::string received_;    ///< bytes after the last whole line
  std::string version_;
};

}  // namespace pareto::bench
