#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "client/report/page_data.h"
#include "client/report/report_writer.h"
#include "tests/client/report/written_reports.h"
#include "tests/support/synthetic_run.h"

namespace pareto::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Writers, AllTakeEveryKindOfRun) {
  std::set<std::string_view> names;
  for (const auto& writer : builtin_writers()) {
    EXPECT_TRUE(names.insert(writer->name()).second);
    EXPECT_THAT(std::string(writer->summary()), Not(IsEmpty()));
    for (const results::RunRecord& run : all_kinds_of_runs()) {
      const auto text = writer->write(run, {});
      EXPECT_TRUE(text) << writer->name() << ": " << text.error().message;
    }
  }
  const auto unknown = make_writer("xml");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(unknown.error().message, HasSubstr("table, json, csv, html"));
}

TEST(HtmlWriter, IsOneFileThatFetchesNothing) {
  for (const results::RunRecord& run : all_kinds_of_runs()) {
    const std::string page = written("html", run);
    EXPECT_EQ(page.substr(0, 15), "<!doctype html>");
    EXPECT_THAT(page, HasSubstr("default-src 'none'"));
    std::size_t scripts = 0;
    for (std::size_t at = 0; (at = page.find("</script", at)) != std::string::npos; ++at) ++scripts;
    EXPECT_EQ(scripts, 4U) << "what the run says must not end a script";
    for (const char* fetch : {"src=\"http", "href=\"http", "@import", "url(http"}) {
      EXPECT_THAT(page, Not(HasSubstr(fetch)));
    }
    EXPECT_LT(page.size(), 3U << 20);
    const std::string open = "id=\"run\">";
    const std::size_t begin = page.find(open) + open.size();
    const json data = json::parse(page.substr(begin, page.find("</script>", begin) - begin));
    EXPECT_EQ(data, json::parse(page_data(test::with_objectives(run))));
  }
}

}  // namespace
}  // namespace pareto::report
