// The flags that name a data set: --data (or --dataset), --part, --preprocess, --limit.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/command.h"
#include "coordinator/data/data_set.h"
#include "coordinator/data/open_data_set.h"
#include "coordinator/evaluation/answers.h"
#include "core/base/error.h"

namespace pareto::client {

/// Returns the forms of data sets for help texts: "DIR (…), cifar10:DIR (…), …".
std::string data_set_forms();

/// The flags of one data set, and their values.
///
/// Threads: one owner.
struct DataFlags {
  std::string flag = "--data";  ///< the name of the first flag
  std::string spec{};
  std::string part = "test";
  std::string preprocessing{};
  std::int64_t limit = 0;  ///< 0: all samples

  void add_to(CLI::App& app, bool required);
  /// Opens the data set for a model that tells classes apart. Says on stderr if it has fewer
  /// classes. Fails: as open_data_set() and read_preprocessing(), naming the flag.
  Expected<std::unique_ptr<data::DataSet>> open(Context& context,
                                                const evaluation::Classifier& model) const;
  /// Returns the samples that --limit leaves: evenly spaced.
  std::vector<std::int64_t> samples(const data::DataSet& data) const;
};

}  // namespace pareto::client
