#include "offload/client/forecast.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "base/io_forecast.hpp"
#include "base/sized_struct.hpp"

namespace halcyon::offload {

namespace {

static_assert(HALCYON_MAX_FORECAST_PATH == io_forecast::longest_path);

double seconds_of(int64_t ns) {
    return ns == io_forecast::not_known ? -1.0 : static_cast<double>(ns) * 1e-9;
}

halcyon_expected_access access_of(const io_forecast::access& from) {
    halcyon_expected_access to;
    to.operation = static_cast<halcyon_operation>(from.operation);
    to.new_file = from.new_file != 0 ? 1 : 0;
    to.offset = from.offset;
    to.bytes = from.bytes;
    to.begins_s = seconds_of(from.begins_ns);
    to.deviation_s = seconds_of(from.deviation_ns);
    to.duration_s = seconds_of(from.duration_ns);
    to.probability = from.probability;
    to.thread = static_cast<int>(from.thread);
    std::memcpy(to.path, from.path, sizeof to.path);
    return to;
}

/// `complete` and the rest of the answer but the accesses.
void fill(const io_forecast::answer& from, halcyon_forecast_t& to) {
    to.count = static_cast<int64_t>(from.count);
    to.complete = from.complete != 0 ? 1 : 0;
    to.threads = static_cast<int>(from.threads);
    to.threads_left_out = static_cast<int>(from.late + from.busy);
    to.phase_calls_done = static_cast<int64_t>(from.calls_done);
    to.phase_calls_left = static_cast<int64_t>(from.calls_left);
    to.phase_bytes_left = from.bytes_left;
    to.phase_time_left_s = seconds_of(from.time_left_ns);
    to.phase_confidence = from.phase_confidence;
    to.next_phase_s = seconds_of(from.next_phase_ns);
    to.next_phase_deviation_s = seconds_of(from.next_phase_deviation_ns);
    to.next_phase_confidence = from.next_phase_confidence;
    to.next_phase_earliest_s = seconds_of(from.next_phase_earliest_ns);
    to.next_phase_latest_s = seconds_of(from.next_phase_latest_ns);
    to.rest_buffer_bytes = from.rest_buffer_bytes;
    to.phase_buffer_bytes = from.phase_buffer_bytes;
    to.flush_in_s = seconds_of(from.flush_in_ns);
    to.flush_for_s = seconds_of(from.flush_for_ns);
}

/// The caller's own members, and where the library's begin.
constexpr size_t own_bytes = offsetof(halcyon_forecast_t, count);

/// Null: nothing learns the I/O of this process.
const io_forecast::source* source_of_process() {
    auto* const entry = reinterpret_cast<io_forecast::entry_point*>(::dlsym(RTLD_DEFAULT, "halcyon_io_forecast"));
    return entry == nullptr ? nullptr : entry(io_forecast::version);
}

result<void> ask(const char* call, const io_forecast::question& asked, halcyon_forecast_t& into) {
    if (into.capacity < 0 || (into.capacity > 0 && into.accesses == nullptr))
        return failure{error_kind::usage,
                       std::string(call) + ": accesses is " + (into.accesses == nullptr ? "a null pointer" : "given") +
                           ", its capacity is " + std::to_string(into.capacity) +
                           "; give an array and how many accesses it has room for, or NULL and 0",
                       0};
    const io_forecast::source* const source = source_of_process();
    if (source == nullptr)
        return failure{error_kind::unavailable,
                       std::string(call) +
                           ": nothing learns the I/O of this process; start the program by `halcyon run --predict -- "
                           "PROGRAM`",
                       0};
    // What the walk ahead of a thread has room for, at most.
    constexpr uint64_t most = 65536;
    std::vector<io_forecast::access> accesses(std::min(asked.most, most));
    io_forecast::answer found;
    if (!source->forecast(asked, accesses.data(), found))
        return failure{error_kind::system, std::string(call) + ": no memory to look ahead in", 0};
    std::transform(accesses.begin(), accesses.begin() + static_cast<std::ptrdiff_t>(found.count), into.accesses,
                   access_of);
    halcyon_forecast_t filled{};
    fill(found, filled);
    give(filled, into, own_bytes);
    return {};
}

}  // namespace

result<void> forecast_next(int64_t count, halcyon_forecast_t& into) {
    if (auto sized = check_size("halcyon_forecast", "halcyon_forecast_t", into, own_bytes); !sized) return sized;
    if (count < 0 || count > into.capacity)
        return failure{error_kind::usage,
                       "halcyon_forecast: " + std::to_string(count) + " accesses are asked for, there is room for " +
                           std::to_string(into.capacity) + "; raise the capacity, or ask for fewer",
                       0};
    return ask("halcyon_forecast", {static_cast<uint64_t>(count), io_forecast::not_known}, into);
}

result<void> forecast_window(double seconds, halcyon_forecast_t& into) {
    if (auto sized = check_size("halcyon_forecast_window", "halcyon_forecast_t", into, own_bytes); !sized) return sized;
    constexpr double longest = 1e9;
    if (!(seconds >= 0 && seconds <= longest))
        return failure{
            error_kind::usage,
            "halcyon_forecast_window: a window of " + std::to_string(seconds) + " s; expected 0 to 1e9 seconds", 0};
    const int64_t room = std::max<int64_t>(into.capacity, 0);
    return ask("halcyon_forecast_window", {static_cast<uint64_t>(room), std::llround(seconds * 1e9)}, into);
}

}  // namespace halcyon::offload
