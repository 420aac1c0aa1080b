// Sentences on what is wrong with a command line, in words of this program and not of its parser.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace pareto::client {

/// Returns a sentence on an error of `app`, with the remedy and the place that lists all flags. The
/// remedy is the nearest flag to an unknown one, or the key of a plan file that replaces a flag.
std::string parse_sentence(const CLI::ParseError& error, const CLI::App& app,
                           const std::vector<std::string>& arguments);

}  // namespace pareto::client
