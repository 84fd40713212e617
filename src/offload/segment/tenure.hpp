#pragma once

#include <atomic>
#include <cstdint>

#include "base/shared_layout.hpp"

namespace halcyon::offload {

/// Who may touch what the servers own of a segment. Read and changed as one word.
struct tenure {
    enum class phase : uint8_t {
        appointed,    ///< a client is starting the server of this generation, which may claim
        taking_over,  ///< the server has claimed: the segment is its own, and no client sees it serve yet
        serving,
        abandoned,  ///< no server comes any more: the clients store by themselves
    };
    uint32_t generation = 1;  ///< counts the servers that were appointed
    uint16_t served = 0;      ///< counts the servers that came to serve
    phase now = phase::appointed;

    [[nodiscard]] tenure successor() const { return {generation + 1, served, phase::appointed}; }
    [[nodiscard]] tenure with(phase p) const { return {generation, served, p}; }
    [[nodiscard]] tenure in_service() const { return {generation, static_cast<uint16_t>(served + 1), phase::serving}; }
    /// How many servers took over from another one.
    [[nodiscard]] uint32_t restarts() const { return served > 0 ? served - 1U : 0U; }
    bool operator==(const tenure&) const = default;
};

/// The tenure of a segment; lies in shared memory. Every change is a compare-and-swap:
///
///     appointed(g) ──server g──▶ taking_over(g) ──server g──▶ serving(g)
///         any of these ──a client──▶ appointed(g + 1), or abandoned
///
/// A server touches nothing before its own claim has succeeded. A client takes a server off only when that server
/// cannot touch the segment: it has not claimed (then its claim will fail), or its process has ended. Hence there are
/// never two servers at work on one segment, however slow or stopped any of these processes is.
class tenure_word {
  public:
    [[nodiscard]] tenure load() const { return unpack(word_.load(std::memory_order_acquire)); }
    /// False, and nothing is changed, when it is not `from` any more.
    bool change(const tenure& from, const tenure& to) {
        uint64_t expected = pack(from);
        return word_.compare_exchange_strong(expected, pack(to), std::memory_order_acq_rel);
    }

  private:
    static constexpr uint64_t pack(const tenure& t) {
        return uint64_t{t.generation} << 32 | uint64_t{t.served} << 8 | static_cast<uint64_t>(t.now);
    }
    static constexpr tenure unpack(uint64_t word) {
        return {static_cast<uint32_t>(word >> 32), static_cast<uint16_t>(word >> 8),
                static_cast<tenure::phase>(word & 0xff)};
    }

    std::atomic<uint64_t> word_{pack(tenure{})};
};
static_assert(has_shared_layout<tenure_word, 8, 8>());
static_assert(are_shared_atomics<uint64_t>);

}  // namespace halcyon::offload
