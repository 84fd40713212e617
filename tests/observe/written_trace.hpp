#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "calls/record/call_record.hpp"
#include "temporary_folder.hpp"

namespace halcyon::observe::trace {

/// Records as applications make them: regular ones, calls during which others were made (these with contexts), and some
/// of the most extreme values.
std::vector<calls::call_record> usual_records(size_t count, std::mt19937_64& random);
std::vector<calls::call_record> nested_records(size_t count, std::mt19937_64& random);
std::vector<calls::call_record> extreme_records(size_t count, std::mt19937_64& random);

/// Writes the trace of a process that made these calls; returns its path. `ended`: cleanly; otherwise as if it had been
/// killed, with what was not coded in the ring.
std::string write_trace(const tests::temporary_folder& folder, const std::string& name,
                        const std::vector<calls::call_record>& records, bool ended);

std::string read_bytes(const std::string& path);
void write_bytes(const std::string& path, const std::string& bytes);

}  // namespace halcyon::observe::trace
