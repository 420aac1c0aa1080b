// Measures how far the classes and functions of a TorchScript archive lead from one to the next.
// While LibTorch reads a definition, it reads those that it names.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace pareto::runtime {

/// A module inside a module is one more; several times what models have.
inline constexpr std::size_t kLongestChain = 500;

/// A record of which definition of an archive names which other. Threads: one owner.
class DefinitionChain {
 public:
  /// Adds the definitions of a file of code, whose record has that name:
  /// "code/__torch__/models/resnet.py".
  void add(std::string_view record, std::string_view code);
  /// Checks that no definitions lead from one to the next without end. Fails: kCorrupt, if more
  /// than kLongestChain of them lead from one to the next.
  Expected<> check() const;

 private:
  void add_definition(const std::string& name, std::string_view text);
  /// Returns the definition that such a name is of, or of whose member; empty: none.
  std::string definition_of(std::string name) const;

  /// Names that each names, as they are written. In small letters: LibTorch finds records so.
  std::map<std::string, std::set<std::string>, std::less<>> named_by_;
};

}  // namespace pareto::runtime
