// A picture as pixels, drawn by a browser.
#include <algorithm>
#include <cmath>

#include "client/report/graph/picture_writer.h"
#include "client/report/html_text.h"
#include "core/base/file.h"

namespace pareto::report::graph {
namespace {

constexpr double kMostPixelsOfAll = 120e6;

/// Reads width="…" and height="…" of a picture that picture_svg() drew.
double side_of(const std::string& svg, const std::string& name) {
  const std::string key = " " + name + "=\"";
  const std::size_t at = svg.find(key);
  return at == std::string::npos ? 0 : std::strtod(svg.c_str() + at + key.size(), nullptr);
}

}  // namespace

Expected<std::string> picture_png(const std::string& svg, const Browser& browser, double& scale) {
  const double width = side_of(svg, "width");
  const double height = side_of(svg, "height");
  if (width < 1 || height < 1) return fail(ErrorCode::kInternal, "a picture without a size");
  scale = std::min(
      {2.0, kMostPixels / std::max(width, height), std::sqrt(kMostPixelsOfAll / (width * height))});
  const int columns = static_cast<int>(std::ceil(width * scale));
  const int rows = static_cast<int>(std::ceil(height * scale));
  PARETO_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("pareto-picture"));
  const auto page = folder.path() / "picture.html";
  const auto picture = folder.path() / "picture.png";
  PARETO_TRY(write_file_atomically(
      page, fmt::format("<!doctype html><meta charset=\"utf-8\"><style>body{{margin:0}}"
                        "svg{{display:block;width:{}px;height:{}px}}</style>{}",
                        columns, rows, svg)));
  PARETO_TRY(run_browser(browser,
                         {fmt::format("--window-size={},{}", columns, rows), "--hide-scrollbars",
                          "--force-device-scale-factor=1", "--screenshot=" + picture.string(),
                          "file://" + url_encoded(page.string())},
                         folder.path()));
  return read_file(picture);
}

}  // namespace pareto::report::graph
