#include "calls/state/file_mappings.hpp"

#include <atomic>

#include "calls/state/known_files.hpp"
#include "calls/state/process_state.hpp"

namespace halcyon::calls::file_mappings {
namespace {

// `begin` is written last and cleared first; who reads a place that is being replaced finds nothing.
struct mapping {
    std::atomic<uintptr_t> begin;
    std::atomic<uintptr_t> end;
    std::atomic<uint32_t> file;
    std::atomic<uint32_t> generation;  // ids are per process
};

constinit mapping mappings[capacity] = {};
constinit std::atomic<uint32_t> noted{0};

}  // namespace

void note(const void* at, size_t bytes, uint32_t file) {
    mapping& place = mappings[noted.fetch_add(1, std::memory_order_relaxed) % capacity];
    const auto begin = reinterpret_cast<uintptr_t>(at);
    place.begin.store(0, std::memory_order_release);
    place.end.store(begin + bytes, std::memory_order_relaxed);
    place.file.store(file, std::memory_order_relaxed);
    place.generation.store(this_process().generation, std::memory_order_relaxed);
    place.begin.store(begin, std::memory_order_release);
}

// Of a mapping that is forgotten in part, what lies before that part stays.
void forget(const void* at, size_t bytes) {
    const auto begin = reinterpret_cast<uintptr_t>(at);
    const uint32_t count = noted.load(std::memory_order_relaxed);
    for (uint32_t i = 0; i < (count < capacity ? count : capacity); ++i) {
        mapping& place = mappings[i];
        const uintptr_t from = place.begin.load(std::memory_order_acquire);
        if (from == 0 || from >= begin + bytes || begin >= place.end.load(std::memory_order_relaxed)) continue;
        if (from < begin)
            place.end.store(begin, std::memory_order_relaxed);
        else
            place.begin.store(0, std::memory_order_release);
    }
}

uint32_t file_at(const void* at) {
    const auto address = reinterpret_cast<uintptr_t>(at);
    const uint32_t count = noted.load(std::memory_order_relaxed);
    // The latest first: what was mapped before at the same place is gone.
    for (uint32_t back = 1; back <= (count < capacity ? count : capacity); ++back) {
        const mapping& place = mappings[(count - back) % capacity];
        const uintptr_t begin = place.begin.load(std::memory_order_acquire);
        if (begin == 0 || address < begin || address >= place.end.load(std::memory_order_relaxed)) continue;
        const bool ours = place.generation.load(std::memory_order_relaxed) == this_process().generation;
        return ours ? place.file.load(std::memory_order_relaxed) : known_files::unknown;
    }
    return known_files::unknown;
}

}  // namespace halcyon::calls::file_mappings
