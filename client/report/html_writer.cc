#include <map>

#include "client/report/assets.h"
#include "client/report/page.h"
#include "client/report/page_data.h"
#include "client/report/writers.h"

namespace pareto::report {
namespace {

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  std::string result;
  for (;;) {
    const std::size_t at = text.find(what);
    result += text.substr(0, at);
    if (at == std::string_view::npos) return result;
    result += with;
    text.remove_prefix(at + what.size());
  }
}

std::string html_escaped(std::string_view text) {
  return replaced(replaced(replaced(text, "&", "&amp;"), "<", "&lt;"), "\"", "&quot;");
}

/// Returns every {{name}} of the template replaced once: what is put in is not looked at again.
Expected<std::string> filled(std::string_view page,
                             const std::map<std::string_view, std::string_view>& values) {
  std::string result;
  for (;;) {
    const std::size_t open = page.find("{{");
    result += page.substr(0, open);
    if (open == std::string_view::npos) return result;
    const std::size_t close = page.find("}}", open);
    const auto value = values.find(page.substr(open + 2, close - open - 2));
    if (close == std::string_view::npos || value == values.end()) {
      return fail(ErrorCode::kInternal, "the report's template has an unknown placeholder");
    }
    result += value->second;
    page.remove_prefix(close + 2);
  }
}

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
