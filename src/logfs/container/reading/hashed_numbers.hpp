#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"

namespace halcyon::logfs {

inline uint64_t hash_of(std::string_view text) {
    uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
    for (const char letter : text) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
    return hash ^ (hash >> 32);
}

/// The numbers 0, 1, … of things that are found by a hash, which may be that of several.
class hashed_numbers {
  public:
    static constexpr uint32_t none = UINT32_MAX;

    explicit hashed_numbers(memory_source& memory) : memory_(memory), places_(memory) {}

    /// The number for which `is_it(number)`; none.
    template <class Is>
    [[nodiscard]] uint32_t find(uint64_t hash, Is is_it) const {
        if (places_.empty()) return none;
        const size_t mask = places_.size() - 1;
        for (size_t i = hash & mask; places_[i].taken != 0; i = (i + 1) & mask) {
            const place& here = places_[i];
            if (here.hash == static_cast<uint32_t>(hash) && is_it(here.taken - 1)) return here.taken - 1;
        }
        return none;
    }

    /// The next number is found by this hash from now on. False: no memory.
    [[nodiscard]] bool add(uint64_t hash) {
        if ((count_ + 1) * 2 > places_.size() && !grow()) return false;
        put({static_cast<uint32_t>(hash), ++count_});
        return true;
    }

    /// Forgets all.
    void release() {
        places_.release();
        count_ = 0;
    }

  private:
    static constexpr size_t least_places = 512;

    // A table has no more places than 32 bits of a hash can tell apart.
    struct place {
        uint32_t hash;
        uint32_t taken;  // number + 1; 0: free
    };

    void put(const place& what) {
        const size_t mask = places_.size() - 1;
        size_t i = what.hash & mask;
        while (places_[i].taken != 0) i = (i + 1) & mask;
        places_[i] = what;
    }

    [[nodiscard]] bool grow() {
        page_array<place> before(memory_);
        before.swap(places_);
        if (!places_.resize(before.empty() ? least_places : before.size() * 2)) {
            places_.swap(before);
            return false;
        }
        for (const place& each : before) {
            if (each.taken != 0) put(each);
        }
        return true;
    }

    memory_source& memory_;
    page_array<place> places_;
    uint32_t count_ = 0;
};

}  // namespace halcyon::logfs
