#include "client/report/assets.h"
#include "client/report/html_text.h"
#include "client/report/page.h"
#include "client/report/page_data.h"
#include "client/report/writers.h"

namespace pareto::report {
namespace {

/// Returns the data of a page as it may stand inside <script>, in which only "</" and "<!--" have a
/// meaning. In JSON a '<' stands only in strings, and may be written otherwise there.
std::string embedded(const results::RunRecord& run) {
  return replaced(page_data(run), "<", "\\u003c");
}

class HtmlWriter final : public ReportWriter {
 public:
  std::string_view name() const override { return "html"; }
  std::string_view summary() const override { return "one offline page, interactive"; }
  Expected<std::string> write(const results::RunRecord& run,
                              const ReportStyle& /*style*/) const override {
    return report_page(run, nullptr);
  }
};

}  // namespace

Expected<std::string> report_page(const results::RunRecord& run, const results::RunRecord* other) {
  const std::string data = embedded(run);
  const std::string compared = other != nullptr ? embedded(*other) : "";
  const std::string title = html_escaped(run.model);
  const std::string library = replaced(report_echarts(), "</script", "<\\/script");
  return filled(report_html(), {{"title", title},
                                {"css", report_css()},
                                {"data", data},
                                {"other", compared},
                                {"echarts", library},
                                {"scripts", report_scripts()}});
}

std::unique_ptr<ReportWriter> make_html_writer() { return std::make_unique<HtmlWriter>(); }

}  // namespace pareto::report
