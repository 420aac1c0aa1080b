// Text for pages.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace pareto::report {

/// Returns the text with every `what` replaced.
std::string replaced(std::string_view text, std::string_view what, std::string_view with);

/// Returns the text as it may stand between tags, and in an attribute between double quotes.
std::string html_escaped(std::string_view text);

/// Returns the text as it may stand in a URL; slashes stay, in a path.
std::string url_encoded(std::string_view text);

/// Returns every {{name}} of a template replaced once: what is put in is not looked at again.
/// Fails: kInternal (a name without a value).
Expected<std::string> filled(std::string_view page,
                             const std::map<std::string_view, std::string_view>& values);

}  // namespace pareto::report
