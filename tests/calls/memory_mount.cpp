// For the text layer's library, with files in memory under $HALCYON_MEMORY_MOUNT: all processes that one process
// starts, and they in turn, see the same ones. $HALCYON_MEMORY_CAPACITY: bytes of all files, where no process has begun
// yet; $HALCYON_MEMORY_QUOTA: bytes of each, beyond which writes fail with EDQUOT.
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "calls/backends/mounts.hpp"
#include "calls/memory_backend/memory_backend.hpp"
#include "calls/state/descriptors.hpp"
#include "calls/state/standard_error.hpp"

namespace halcyon::calls {
namespace {

constinit memory_backend files;
const char* entries[6] = {};
size_t entry_count = 0;

/// What programs that this one starts find in their environment.
void hand_on(const char* name, const char* value) {
    if (value == nullptr) return;
    static char text[4][4200];
    if (entry_count == 4) abort();
    snprintf(text[entry_count], sizeof text[0], "%s=%s", name, value);
    entries[entry_count] = text[entry_count];
    ++entry_count;
}

int64_t number_in(const char* name, int64_t otherwise) {
    const char* const value = getenv(name);
    return value == nullptr ? otherwise : atoll(value);
}

}  // namespace

const char* const* environment_of_children() {
    return entries;
}

void backends::start_backends() {
    const char* const prefix = getenv("HALCYON_MEMORY_MOUNT");
    if (prefix == nullptr) return;
    standard_error::remember();
    constexpr int64_t all = in_memory::most_chunks * in_memory::chunk_bytes;
    const auto given = static_cast<int>(number_in("HALCYON_MEMORY", -1));
    const int memory = files.start(given, number_in("HALCYON_MEMORY_CAPACITY", all));
    if (memory < 0 || !mount(files, prefix)) {
        fprintf(stderr, "no files in memory: %s\n", memory < 0 ? strerror(-memory) : prefix);
        abort();
    }
    files.set_quota(number_in("HALCYON_MEMORY_QUOTA", INT64_MAX));
    descriptors::own(memory);
    char shared[16];
    snprintf(shared, sizeof shared, "%d", memory);
    hand_on("LD_PRELOAD", getenv("LD_PRELOAD"));
    hand_on("HALCYON_MEMORY_MOUNT", prefix);
    hand_on("HALCYON_MEMORY", shared);
    hand_on("HALCYON_TEXT_DIR", getenv("HALCYON_TEXT_DIR"));
}

}  // namespace halcyon::calls
