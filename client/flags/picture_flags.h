// `report --png` and `--svg`: the front as a picture.
#pragma once

#include <string>
#include <vector>

#include "client/command.h"
#include "client/report/front_picture.h"

namespace CLI {
class Option;
}

namespace pareto::client {

class PictureFlags {
 public:
  void add_to(CLI::App& app);
  /// Returns whether a picture was asked for.
  bool any() const { return !png_.empty() || !svg_.empty(); }
  /// Checks the names and the sizes of the pictures. Fails: kInvalidArgument where a flag of
  /// pictures stands without one, or a size is odd.
  Expected<> check() const;
  /// Draws what was asked for, and says where. The context's stop, watched by now, ends it. Fails:
  /// as front_picture and files do.
  Expected<> write(Context& context, const results::RunRecord& run) const;

 private:
  Expected<> write_one(Context& context, const results::RunRecord& run, const std::string& path,
                       report::PictureFormat format) const;

  std::string png_;
  std::string svg_;
  std::string theme_ = "light";
  report::PictureOptions options_;
  report::Browser browser_;
  std::vector<CLI::Option*> of_pictures_;  ///< all but the two that name one
};

}  // namespace pareto::client
