// The codecs, one file each; builtin_codecs.cc lists them. What each writes is specified in
// core/wire/FORMAT.md. Internal to core/wire.
#pragma once

#include "core/wire/codec.h"

namespace pareto::wire::codecs {

// These objects live as long as the process.
const Codec* fp16();
const Codec* bf16();
const Codec* int8();
const Codec* int8_channel();
const Codec* zero_bitmap();
const Codec* lz4();
const Codec* zstd();
const Codec* int8_zstd();

}  // namespace pareto::wire::codecs
