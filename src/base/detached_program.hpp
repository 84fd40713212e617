#pragma once

#include <string_view>

/// What those who start a program that stays behind them agree on with it (detached_start.hpp).
namespace halcyon {

/// Descriptor by which a program that was started so tells that it is ready: it writes '1' there, or '0' and why it
/// cannot run, and closes it (tell_starter).
inline constexpr int ready_descriptor = 3;
/// Of that text, in bytes: with the mark it is written at once, and read so.
inline constexpr int longest_reason_to_starter = 250;

/// Whether an entry "NAME=value" would make a program a part of the MPI job, or load code into it.
constexpr bool is_variable_of_job(std::string_view entry) {
    constexpr std::string_view unwanted[] = {"OMPI_", "PMIX_", "PMI_", "PRTE_", "LD_PRELOAD=", "HYDRA_", "MPIR_"};
    for (const std::string_view name : unwanted)
        if (entry.starts_with(name)) return true;
    return false;
}

}  // namespace halcyon
