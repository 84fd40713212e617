#pragma once

// RapidJSON as all of Halcyon includes it, so that no two sources see it differently:
// - assertions throw: a broken one is a fault of ours and must not abort a simulation;
// - lack of memory throws: RapidJSON writes through the null pointer that malloc returns.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

#define RAPIDJSON_ASSERT(condition) \
    if (!(condition)) throw std::logic_error("RapidJSON: " #condition)

/// RapidJSON calls std::malloc and std::realloc by these names, and offers no way to name others. Inside its namespace
/// they are these; everything else of std is that of the language.
namespace rapidjson::std {
using namespace ::std;

inline void* malloc(size_t bytes) {
    void* const memory = ::std::malloc(bytes);
    if (memory == nullptr) throw ::std::bad_alloc();
    return memory;
}

inline void* realloc(void* before, size_t bytes) {
    void* const memory = ::std::realloc(before, bytes);
    if (memory == nullptr) throw ::std::bad_alloc();
    return memory;
}

}  // namespace rapidjson::std

#include <rapidjson/document.h>
#include <rapidjson/pointer.h>
#include <rapidjson/prettywriter.h>
#include <rapidjson/schema.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
