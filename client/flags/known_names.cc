#include "client/flags/known_names.h"

#include "core/plan/builtin_conditions.h"
#include "core/transport/transport.h"
#include "core/wire/codec.h"
#include "partitioner/model/zoo/model_builder.h"
#include "runtime/shard_runner.h"

namespace pareto::client {

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& model : model::zoo::builtin_models()) names.emplace_back(model->name());
  return names;
}

std::vector<std::string> transport_names() {
  std::vector<std::string> names{"auto"};
  for (const auto& transport : transport::builtin_transports()) {
    if (transport->reach() != transport::Reach::kProcess) names.emplace_back(transport->name());
  }
  return names;
}

std::vector<std::string> codec_names(std::vector<std::string> words) {
  for (const wire::Codec* codec : wire::builtin_codecs()) words.emplace_back(codec->name());
  return words;
}

std::vector<std::string> network_names(std::vector<std::string> words) {
  for (const plan::BuiltinCondition& condition : plan::builtin_conditions())
    words.push_back(condition.name);
  return words;
}

std::vector<std::string> engine_choices() {
  std::vector<std::string> names{"auto"};
  for (const std::string& name : runtime::engine_names()) names.push_back(name);
  return names;
}

}  // namespace pareto::client
