#include <algorithm>
#include <string>

#include "core/base/text.h"
#include "core/wire/codec.h"
#include "core/wire/codecs/codecs.h"

namespace pareto::wire {

const std::vector<const Codec*>& builtin_codecs() {
  static const std::vector<const Codec*> kAll{
      codecs::fp16(),        codecs::bf16(), codecs::int8(), codecs::int8_channel(),
      codecs::zero_bitmap(), codecs::lz4(),  codecs::zstd(), codecs::int8_zstd(),
  };
  return kAll;
}

Expected<const Codec*> find_codec(std::string_view name) {
  if (name == "none") return nullptr;
  std::vector<std::string> names{"none"};
  for (const Codec* const codec : builtin_codecs()) {
    if (codec->name() == name) return codec;
    names.emplace_back(codec->name());
  }
  return fail(ErrorCode::kNotFound, "no codec is called \"{}\"; there are {}{}", name, join(names),
              did_you_mean(name, names));
}

const Codec* codec_of_number(std::uint8_t number) {
  const auto& all = builtin_codecs();
  const auto found = std::find_if(
      all.begin(), all.end(), [number](const Codec* codec) { return codec->number() == number; });
  return found == all.end() ? nullptr : *found;
}

}  // namespace pareto::wire
