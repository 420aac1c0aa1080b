#include "client/report/front_picture.h"

#include "client/report/html_text.h"
#include "client/report/report_writer.h"
#include "coordinator/results/best_by_network.h"
#include "core/base/file.h"

namespace pareto::report {
namespace {

/// Returns the batch and condition asked for, or the run's first that were measured.
Expected<PictureOptions> chosen_of(const results::RunRecord& run, PictureOptions options) {
  std::vector<std::string> there;
  for (const results::NetworkBest& at : results::best_by_network(run)) {
    if (at.measured == 0) continue;
    if ((options.condition.empty() || options.condition == at.condition) &&
        (options.batch == 0 || options.batch == at.batch)) {
      options.condition = at.condition;
      options.batch = at.batch;
      return options;
    }
    there.push_back(fmt::format("network \"{}\" at batch {}", at.condition, at.batch));
  }
  if (there.empty()) return fail(ErrorCode::kNotFound, "run {} has no plan measured", run.id);
  std::vector<std::string> asked;
  if (!options.condition.empty()) asked.push_back(fmt::format("network \"{}\"", options.condition));
  if (options.batch != 0) asked.push_back(fmt::format("batch {}", options.batch));
  return fail(ErrorCode::kNotFound, "run {} has no plan measured at {}; it has {}", run.id,
              fmt::join(asked, " and "), fmt::join(there, ", "));
}

/// Takes the chart's drawing out of the page's elements; beyond the chart come the legend's.
Expected<std::string> drawing_of(const std::string& page) {
  const std::size_t chart = page.find("id=\"chart\"");
  const std::size_t begin = chart == std::string::npos ? chart : page.find("<svg", chart);
  const std::string_view close = "</svg>";
  const std::size_t end = begin == std::string::npos ? begin : page.find(close, begin);
  if (end == std::string::npos || begin > page.find("id=\"legend\"", chart)) {
    return fail(ErrorCode::kInternal, "the browser drew no chart");
  }
  return page.substr(begin, end + close.size() - begin) + "\n";
}

}  // namespace

Expected<std::string> front_picture(const results::RunRecord& run, const PictureOptions& asked,
                                    PictureFormat format, const Browser& browser) {
  PARETO_ASSIGN(const PictureOptions options, chosen_of(run, asked));
  PARETO_ASSIGN(const auto writer, make_writer("html"));
  PARETO_ASSIGN(const std::string page, writer->write(run, {}));
  PARETO_ASSIGN(const TemporaryFolder folder, TemporaryFolder::create("pareto-picture"));
  const auto file = folder.path() / "report.html";
  const auto picture = folder.path() / "picture.png";
  PARETO_TRY(write_file_atomically(file, page));
  const int width = options.width / kPixelsPerUnit;
  const int height = options.height / kPixelsPerUnit;
  std::vector<std::string> arguments{
      fmt::format("--window-size={},{}", width, height),
      // Of the page's own time: enough for all that it does, however slow the machine is.
      "--virtual-time-budget=5000"};
  if (format == PictureFormat::kPng) {
    arguments.push_back(fmt::format("--force-device-scale-factor={}", kPixelsPerUnit));
    arguments.push_back("--hide-scrollbars");
    arguments.push_back("--screenshot=" + picture.string());
  } else {
    arguments.emplace_back("--dump-dom");
  }
  arguments.push_back(
      fmt::format("file://{}#figure=front&width={}&height={}&theme={}&batch={}&condition={}",
                  url_encoded(file.string()), width, height, options.dark ? "dark" : "light",
                  options.batch, url_encoded(options.condition)));
  PARETO_ASSIGN(const std::string elements, run_browser(browser, arguments, folder.path()));
  return format == PictureFormat::kPng ? read_file(picture) : drawing_of(elements);
}

}  // namespace pareto::report
