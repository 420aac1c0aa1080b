// The front of one batch and network of a run as a picture for papers and slides: the report's own
// chart, drawn by a browser.
#pragma once

#include <cstdint>
#include <string>

#include "client/report/browser.h"
#include "coordinator/results/record.h"
#include "core/base/error.h"

namespace pareto::report {

enum class PictureFormat {
  kPng,
  kSvg,  ///< the chart alone, without title and legend
};

/// Pixels to each unit of length of the drawing.
inline constexpr int kPixelsPerUnit = 2;

struct PictureOptions {
  std::string condition{};  ///< empty: the run's first
  std::int64_t batch = 0;   ///< 0: the run's smallest
  int width = 1600;         ///< pixels; a multiple of kPixelsPerUnit, as is the height
  int height = 1000;
  bool dark = false;
};

/// Returns the bytes of the file. Fails: kNotFound (nothing was measured under that condition or at
/// that batch, with those that there are), as run_browser does.
Expected<std::string> front_picture(const results::RunRecord& run, const PictureOptions& options,
                                    PictureFormat format, const Browser& browser);

}  // namespace pareto::report
