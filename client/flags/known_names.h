// Names that values of flags may have, for shells to propose.
#pragma once

#include <string>
#include <vector>

namespace pareto::client {

std::vector<std::string> model_names();
/// Returns "auto", and the transports between processes.
std::vector<std::string> transport_names();
/// Returns these words, and all codecs.
std::vector<std::string> codec_names(std::vector<std::string> words);
/// Returns these words, and the networks that have a name.
std::vector<std::string> network_names(std::vector<std::string> words);
std::vector<std::string> engine_choices();

}  // namespace pareto::client
