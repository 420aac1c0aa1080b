// Sentences on what is wrong with a command line, in words of this program and not of its parser.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace pareto::client {

/// Returns a sentence on an error of `app`, with what to do instead and where all flags stand: the
/// nearest flag to one that nobody knows, the key of a plan file that says what a flag would.
std::string parse_sentence(const CLI::ParseError& error, const CLI::App& app,
                           const std::vector<std::string>& arguments);

}  // namespace pareto::client
