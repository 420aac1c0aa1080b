#include "client/commands/show.h"

namespace pareto::client::commands {

report::ReportStyle style_of(const Context& context) {
  return {context.colour, context.out_is_terminal ? context.columns : 0};
}

}  // namespace pareto::client::commands
