#include "client/report/figure_page.h"

#include "client/report/assets.h"
#include "client/report/html_text.h"

namespace pareto::report {
namespace {

constexpr std::string_view kFigurePage = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<meta name="color-scheme" content="light dark">
<title>{{title}} · Pareto Edge</title>
<link rel="icon" href="data:,">
<style>
{{css}}
main { padding-top: 8px; padding-bottom: 24px; }
.hero { margin-bottom: 20px; }
.hero p { max-width: 90ch; overflow-wrap: anywhere; }
#picture { overflow-x: auto; margin-top: 12px; }
#picture svg { display: block; height: auto; width: 100%; min-width: 720px; }
#zoom { vertical-align: middle; }
.card > h2 { margin-bottom: 6px; }
td { vertical-align: top; }
td.text { white-space: normal; overflow-wrap: break-word; }
td.text:has(small) { min-width: 170px; }
td small { display: block; margin: 0; font-weight: 400; }
tr.strong td { font-weight: 600; }
.plain tbody tr.bad { color: var(--bad); }
</style>
</head>
<body>
<main>
  <div class="hero"><h1>{{title}}</h1><p class="muted">{{subtitle}}</p></div>
  {{headlines}}
  <section class="card" aria-labelledby="picture-title">
    <div class="card-head">
      <div><h2 id="picture-title">{{picture_title}}</h2><p class="muted">{{picture_note}}</p></div>
      {{zoom}}
    </div>
    <div id="picture" tabindex="0">{{picture}}</div>
  </section>
{{tables}}</main>
<script>
'use strict';
if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.dataset.theme = 'dark';
document.getElementById('zoom')?.addEventListener('input', (event) => {
  document.querySelector('#picture svg').style.width = `${100 * event.target.value}%`;
});
</script>
</body>
</html>
)";

constexpr std::string_view kZoom =
    R"(<label class="muted">Zoom <input id="zoom" type="range" min="1" max="16" value="1" aria-label="Zoom"></label>)";

std::string headlines_html(const std::vector<Headline>& headlines) {
  if (headlines.empty()) return "";
  std::string html = "<section class=\"headlines\" aria-label=\"Figures\">\n";
  for (const Headline& one : headlines) {
    html += fmt::format(
        "<div class=\"headline\"><span>{}</span><strong>{}</strong><span>{}</span></div>\n",
        html_escaped(one.title), html_escaped(one.figure), html_escaped(one.note));
  }
  return html + "</section>";
}

std::string tables_html(const std::vector<PageTable>& tables) {
  std::string html;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const std::string id = fmt::format("table-{}", i);
    html += fmt::format(
        "  <section class=\"card\" aria-labelledby=\"{0}\">\n    <h2 id=\"{0}\">{1}</h2>\n"
        "    <div class=\"scroll\">{2}</div>\n  </section>\n",
        id, html_escaped(tables[i].title), cells_html(tables[i].table, id));
  }
  return html;
}

}  // namespace

Expected<std::string> figure_page(const FigurePage& page) {
  const std::string title = html_escaped(page.title);
  const std::string subtitle = html_escaped(page.subtitle);
  const std::string headlines = headlines_html(page.headlines);
  const std::string picture_title = html_escaped(page.picture_title);
  const std::string picture_note = html_escaped(page.picture_note);
  const std::string tables = tables_html(page.tables);
  return filled(kFigurePage, {{"title", title},
                              {"css", report_css()},
                              {"subtitle", subtitle},
                              {"headlines", headlines},
                              {"picture_title", picture_title},
                              {"picture_note", picture_note},
                              {"zoom", page.zoom ? kZoom : ""},
                              {"picture", page.picture},
                              {"tables", tables}});
}

}  // namespace pareto::report
