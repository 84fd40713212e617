#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "base/shared_layout.hpp"

namespace halcyon {

/// One producer, one consumer, fixed-size events; lives in shared memory, so it holds no pointers: slots follow the
/// ring in memory. push() fails when full: the caller applies its policy, the ring has none.
///
/// Protocol: `head_` is written by the producer (release) after the slot, `tail_` by the consumer (release) after it
/// has copied the slot out. Each side keeps its own idea of the other's counter and reads the real one only when that
/// idea says full or empty. Counters only grow; slot = counter mod capacity. The consumer trusts neither: a head that
/// runs ahead by more than `capacity` is `corrupt`; pop() says so once, and from then on there is nothing more.
template <class Event>
class spsc_ring {
    static_assert(std::is_trivially_copyable_v<Event> && are_shared_atomics<uint64_t>);

  public:
    /// Memory a ring of `capacity` (a power of two) slots takes.
    static constexpr uint64_t bytes_for(uint64_t capacity) { return sizeof(spsc_ring) + capacity * sizeof(Event); }

    /// The producer's end. `capacity` is the caller's own knowledge, never read from shared memory.
    class producer {
      public:
        producer() = default;
        producer(spsc_ring* ring, uint64_t capacity)
            : ring_(ring), capacity_(capacity), head_(ring->head_.load(std::memory_order_relaxed)) {
            tail_ = ring->tail_.load(std::memory_order_acquire);
        }
        [[nodiscard]] bool push(const Event& e) {
            if (head_ - tail_ >= capacity_) {
                tail_ = ring_->tail_.load(std::memory_order_acquire);
                if (head_ - tail_ >= capacity_) return false;
            }
            ring_->slots()[head_ & (capacity_ - 1)] = e;
            ring_->head_.store(++head_, std::memory_order_release);
            return true;
        }

      private:
        spsc_ring* ring_ = nullptr;
        uint64_t capacity_ = 0;
        uint64_t head_ = 0;
        uint64_t tail_ = 0;
    };

    /// The consumer's end.
    class consumer {
      public:
        consumer() = default;
        consumer(spsc_ring* ring, uint64_t capacity)
            : ring_(ring), capacity_(capacity), tail_(ring->tail_.load(std::memory_order_relaxed)), head_(tail_) {}

        enum class outcome { popped, empty, corrupt };
        [[nodiscard]] outcome pop(Event& out) {
            if (corrupt_) return outcome::empty;
            if (head_ == tail_) {
                head_ = ring_->head_.load(std::memory_order_acquire);
                if (head_ == tail_) return outcome::empty;
                if (head_ - tail_ > capacity_) {
                    corrupt_ = true;
                    return outcome::corrupt;
                }
            }
            out = ring_->slots()[tail_ & (capacity_ - 1)];
            ring_->tail_.store(++tail_, std::memory_order_release);
            return outcome::popped;
        }
        /// Nothing is taken from this ring any more.
        void give_up() { corrupt_ = true; }
        /// Tells the producer again how much was taken, in case that somebody else wrote over it.
        void restate() { ring_->tail_.store(tail_, std::memory_order_release); }
        /// Whether there is nothing to pop; a corrupt ring has nothing either.
        [[nodiscard]] bool empty() const {
            return corrupt_ || (head_ == tail_ && ring_->head_.load(std::memory_order_acquire) == tail_);
        }

      private:
        spsc_ring* ring_ = nullptr;
        uint64_t capacity_ = 0;
        uint64_t tail_ = 0;
        uint64_t head_ = 0;
        bool corrupt_ = false;
    };

  private:
    Event* slots() { return std::launder(reinterpret_cast<Event*>(this + 1)); }

    alignas(64) std::atomic<uint64_t> head_{0};
    alignas(64) std::atomic<uint64_t> tail_{0};
};

}  // namespace halcyon
