#include "calls/stacks/walked_stacks.hpp"

#include <atomic>

namespace halcyon::calls::walked_stacks {
namespace {

/// The next word of a walk is in the next node. Nothing stands before node 1.
struct node {
    int32_t distance;              // from the stack pointer, in words; or `end`, and the value is the hash
    std::atomic<uint32_t> branch;  // another value of this word; 0: none
    uint64_t value;
};
constexpr int32_t end = INT32_MAX;
constexpr uint32_t most_nodes = 65536;
constinit node nodes[most_nodes] = {};
constinit std::atomic<uint32_t> used{1};

/// Where the walks from one stack pointer begin.
struct beginning {
    std::atomic<uint64_t> key;
    std::atomic<uint32_t> first;
};
constexpr unsigned beginnings_bits = 11;
constexpr size_t most_beginnings = size_t{1} << beginnings_bits;
constexpr size_t probes = 8;
constinit beginning beginnings[most_beginnings] = {};

// Where a walk may be one of so many, looking for it takes longer than walking.
constexpr unsigned most_branches = 48;

/// Null where there is none; `take`: a free place is its own now.
beginning* beginning_of(uintptr_t sp, uint32_t state, bool take) {
    const uint64_t key = sp / sizeof(uintptr_t) | uint64_t{state} << 44;
    const size_t home = key * 0x9E3779B97F4A7C15u >> (64 - beginnings_bits);  // all of the key's bits reach these
    for (size_t probe = 0; probe < probes; ++probe) {
        beginning& place = beginnings[(home + probe) % most_beginnings];
        uint64_t held = place.key.load(std::memory_order_relaxed);
        if (held == 0 && !take) return nullptr;
        if (held == key || (held == 0 && place.key.compare_exchange_strong(held, key)) || held == key) return &place;
    }
    return nullptr;
}

/// Room for so many nodes; 0: there is none.
uint32_t take(uint32_t count) {
    uint32_t first = used.load(std::memory_order_relaxed);
    while (first + count <= most_nodes) {
        if (used.compare_exchange_weak(first, first + count, std::memory_order_relaxed)) return first;
    }
    return 0;
}

}  // namespace

void notes::add(int32_t distance, uintptr_t value) {
    if (count_ < most) {
        distances_[count_] = distance;
        values_[count_] = value;
    }
    if (count_ <= most) ++count_;
}

void notes::word(uintptr_t address, uintptr_t value) {
    const auto bytes = static_cast<int64_t>(address - sp_);
    constexpr auto unit = static_cast<int64_t>(sizeof(uintptr_t));
    const int64_t distance = bytes / unit;
    if (bytes % unit != 0 || distance <= at_register || distance >= end) {
        count_ = most + 1;
        return;
    }
    add(static_cast<int32_t>(distance), value);
}

/// The nodes of what was read from the word `first` on.
uint32_t notes::put_behind(size_t first, uint64_t hash) const {
    const uint32_t made = take(static_cast<uint32_t>(count_ - first) + 1);
    if (made == 0) return 0;
    for (size_t i = first; i < count_; ++i) {
        node& one = nodes[made + i - first];
        one.distance = distances_[i];
        one.value = values_[i];
    }
    node& last = nodes[made + count_ - first];
    last.distance = end;
    last.value = hash;
    return made;
}

void notes::keep(uint64_t hash) {
    if (count_ > most) return;
    beginning* const from = beginning_of(sp_, state_, true);
    if (from == nullptr) return;
    std::atomic<uint32_t>* branch = &from->first;
    unsigned branches = 0;
    for (size_t i = 0; i < count_;) {
        const uint32_t known = branch->load(std::memory_order_acquire);
        if (known == 0) {
            if (branches == most_branches) return;
            const uint32_t made = put_behind(i, hash);
            // Without luck another thread was faster, and its node is looked at.
            uint32_t nobody = 0;
            if (made == 0 || branch->compare_exchange_strong(nobody, made)) return;
            continue;
        }
        ++branches;
        node* at = &nodes[known];
        branch = &at->branch;
        if (at->value != values_[i] || at->distance != distances_[i]) continue;
        // As far as it is known: from there on it goes by other branches.
        for (++at, ++i, branches = 0; i < count_ && at->value == values_[i] && at->distance == distances_[i]; ++at) ++i;
        branch = &at->branch;
    }
}

__attribute__((no_sanitize("address", "thread"))) uint64_t hash_of(uintptr_t sp, uintptr_t bp, uint32_t state) {
    const beginning* const from = beginning_of(sp, state, false);
    if (from == nullptr) return 0;
    for (uint32_t i = from->first.load(std::memory_order_acquire); i != 0;) {
        const node& at = nodes[i];
        if (at.distance == end) return at.value;
        // Everything before it was as in an earlier walk, so this is what a walk would read here, too.
        const uintptr_t found =
            at.distance == notes::at_register ? bp : reinterpret_cast<const uintptr_t*>(sp)[at.distance];
        i = found == at.value ? i + 1 : at.branch.load(std::memory_order_acquire);
    }
    return 0;
}

}  // namespace halcyon::calls::walked_stacks
