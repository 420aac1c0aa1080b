// A page of figures, a picture and tables: what the pages of schedules and of tasks have in common.
#pragma once

#include <string>
#include <vector>

#include "client/report/cell_table.h"
#include "core/base/error.h"

namespace pareto::report {

/// A large figure at the page's head.
struct Headline {
  std::string title{};
  std::string figure{};
  std::string note{};
};

struct PageTable {
  std::string title{};
  CellTable table{};
};

/// Texts are escaped, the picture is not.
struct FigurePage {
  std::string title{};
  std::string subtitle{};
  std::vector<Headline> headlines{};
  std::string picture_title{};
  std::string picture_note{};
  std::string picture{};  ///< an svg element
  bool zoom = false;      ///< the picture can be made wider
  std::vector<PageTable> tables{};
};

/// Returns one offline page. Fails: kInternal.
Expected<std::string> figure_page(const FigurePage& page);

}  // namespace pareto::report
