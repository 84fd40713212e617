// For the text layer's library, with files in memory under $HALCYON_MEMORY_MOUNT: all processes that one process
// starts, and they in turn, see the same ones.
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
char preloaded[4096], mounted_at[4096], shared[64], directory[4096];
const char* entries[5] = {};

}  // namespace

const char* const* environment_of_children() {
    return entries;
}

void backends::start_backends() {
    const char* const prefix = getenv("HALCYON_MEMORY_MOUNT");
    if (prefix == nullptr) return;
    standard_error::remember();
    const char* const given = getenv("HALCYON_MEMORY");
    const int memory = files.start(given == nullptr ? -1 : atoi(given));
    if (memory < 0 || !mount(files, prefix)) {
        fprintf(stderr, "no files in memory: %s\n", memory < 0 ? strerror(-memory) : prefix);
        abort();
    }
    descriptors::own(memory);
    const char* const text = getenv("HALCYON_TEXT_DIR");
    snprintf(preloaded, sizeof preloaded, "LD_PRELOAD=%s", getenv("LD_PRELOAD"));
    snprintf(mounted_at, sizeof mounted_at, "HALCYON_MEMORY_MOUNT=%s", prefix);
    snprintf(shared, sizeof shared, "HALCYON_MEMORY=%d", memory);
    snprintf(directory, sizeof directory, "HALCYON_TEXT_DIR=%s", text == nullptr ? "" : text);
    entries[0] = preloaded;
    entries[1] = mounted_at;
    entries[2] = shared;
    entries[3] = text == nullptr ? nullptr : directory;
}

}  // namespace halcyon::calls
