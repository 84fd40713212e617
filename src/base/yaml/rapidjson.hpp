#pragma once

// RapidJSON, with assertions that throw: a broken one is a fault of ours and must not abort a simulation.
#include <stdexcept>

#define RAPIDJSON_ASSERT(condition) \
    if (!(condition)) throw std::logic_error("RapidJSON: " #condition)

#include <rapidjson/document.h>
#include <rapidjson/pointer.h>
#include <rapidjson/schema.h>
