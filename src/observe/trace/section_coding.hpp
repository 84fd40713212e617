#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "calls/record/call_record.hpp"
#include "observe/trace/trace_format.hpp"

/// The payloads of a trace's larger sections. Both functions return a view of memory that the next call of either uses
/// again, empty when nothing could be written: one call at a time in a process.
namespace halcyon::observe::trace {

/// Records of a full chunk, and the most that coded_chunk takes.
inline constexpr uint32_t chunk_records = 4096;

/// Quick while the application runs, small for what a process ends with: of most processes that is the whole trace.
enum class moment { running, ending };

/// `section` with all but its `plane_bytes`.
std::string_view coded_chunk(std::span<const calls::call_record> records, uint32_t time_unit, chunk_section section,
                             moment when);

/// `notes`: as many as a ring holds at most.
std::string_view coded_notes(std::string_view notes, moment when);

}  // namespace halcyon::observe::trace
