// xxHash, and on x86-64 its dispatcher, which sends XXH3_* to the widest vector unit of the CPU it
// runs on: three times the speed of the baseline. Not every installation of the library has that.
// Included by source files only: it defines names without a namespace.
#pragma once

#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#endif
