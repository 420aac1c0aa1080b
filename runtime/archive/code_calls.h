// What the code of a shard calls, found before LibTorch parses it. Loading code runs some of it:
// default values, and what LibTorch folds.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace pareto::runtime {

/// More calls than the code of any model has, when all of it is inlined.
inline constexpr std::size_t kMostCalls = 500'000;

/// The calls of an archive's code, file by file. Threads: one owner.
class CodeCalls {
 public:
  /// Remembers the functions and classes that a file defines. All files are added before the first
  /// one is checked. Fails: as check() does.
  Expected<> add(std::string_view code);

  /// Checks a file. It may call these:
  /// - Operators that shards may use (operator_review.h), as `torch.relu(x)`, `ops.prim.device(x)`
  ///   or `x.relu()`.
  /// - Functions and methods of the archive.
  /// - A few words of the language, such as `int` and `range`.
  ///
  /// It may define no Enum.
  ///
  /// Values of attributes, and defaults of arguments, are computed while LibTorch reads them: they
  /// may only be written out. Packed weights of quantised layers are the only objects of LibTorch
  /// (check_class()).
  /// Fails: kPermission, kCorrupt (more than kMostCalls calls, no code); with the line.
  Expected<> check(std::string_view code);

 private:
  std::set<std::string, std::less<>> defined_;
  std::size_t calls_ = 0;
};

/// Checks a class by its whole name. Of those that LibTorch or a library defines, only packed
/// weights may be used: "__torch__.torch.classes.quantized.Conv2dPackedParamsBase". Others open
/// sockets, start profilers and load drivers. Fails: kPermission.
Expected<> check_class(std::string_view name);

/// Checks the classes of libraries that a pickle names. Fails: as check_class().
Expected<> check_pickled_classes(std::string_view pickle);

}  // namespace pareto::runtime
