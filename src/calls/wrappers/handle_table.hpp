#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "calls/state/process_state.hpp"

namespace halcyon::calls {

/// What is known of handles that an application was given (files of MPI, requests, identifiers of HDF5): two words for
/// each. Bounded and without allocation; any thread adds, finds and removes. A handle has one owner at a time, as the
/// libraries that hand them out see to it: a handle that is being added is found by nobody yet.
///
/// A slot's `key` is claimed by `claimed`, then the words are written, then the key (release); readers check the key
/// (acquire) before they read the words. A forked child has no handles: those of its parent's generation are free.
template <size_t slots>
class handle_table {
  public:
    struct words {
        uint64_t first;
        uint64_t second;
    };

    /// Replaces what was known of the handle. False when there is no room.
    bool add(uint64_t key, words known) {
        if (slot* present = find_slot(key)) {
            fill(*present, known);
            return true;
        }
        for (size_t probe = 0; probe < probes; ++probe) {
            slot& candidate = at(key, probe);
            uint64_t held = candidate.key.load(std::memory_order_relaxed);
            const bool stale = held > claimed && candidate.generation.load(std::memory_order_relaxed) != generation();
            if ((held == none_held || stale) && candidate.key.compare_exchange_strong(held, claimed)) {
                if (!stale) count_.fetch_add(1, std::memory_order_relaxed);
                fill(candidate, known);
                candidate.key.store(key, std::memory_order_release);
                return true;
            }
        }
        return false;
    }

    /// False when nothing is known of the handle.
    bool find(uint64_t key, words& out) {
        const slot* present = find_slot(key);
        if (present == nullptr) return false;
        out = {present->first.load(std::memory_order_relaxed), present->second.load(std::memory_order_relaxed)};
        return true;
    }

    /// As find(), and nothing is known of the handle afterwards.
    bool take(uint64_t key, words& out) {
        slot* present = find_slot(key);
        if (present == nullptr) return false;
        out = {present->first.load(std::memory_order_relaxed), present->second.load(std::memory_order_relaxed)};
        if (!present->key.compare_exchange_strong(key, none_held)) return false;
        count_.fetch_sub(1, std::memory_order_relaxed);
        return true;
    }

    void remove(uint64_t key) {
        words unwanted{};
        take(key, unwanted);
    }

    [[nodiscard]] bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }

  private:
    static constexpr uint64_t none_held = 0;
    static constexpr uint64_t claimed = 1;
    static constexpr size_t probes = 32;
    static_assert(slots >= probes && (slots & (slots - 1)) == 0);

    struct slot {
        std::atomic<uint64_t> key;
        std::atomic<uint64_t> first;
        std::atomic<uint64_t> second;
        std::atomic<uint32_t> generation;
    };

    static uint32_t generation() { return this_process().generation; }

    slot& at(uint64_t key, size_t probe) { return slots_[((key * 0x9E3779B97F4A7C15u >> 32) + probe) & (slots - 1)]; }

    slot* find_slot(uint64_t key) {
        for (size_t probe = 0; probe < probes && key > claimed; ++probe) {
            slot& candidate = at(key, probe);
            if (candidate.key.load(std::memory_order_acquire) == key &&
                candidate.generation.load(std::memory_order_relaxed) == generation()) {
                return &candidate;
            }
        }
        return nullptr;
    }

    void fill(slot& into, words known) {
        into.first.store(known.first, std::memory_order_relaxed);
        into.second.store(known.second, std::memory_order_relaxed);
        into.generation.store(generation(), std::memory_order_relaxed);
    }

    slot slots_[slots];
    std::atomic<uint64_t> count_;
};

}  // namespace halcyon::calls
