#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "predict/layer/thread_model.hpp"
#include "predict/prefetch/asker.hpp"
#include "predict/prefetch/benefit.hpp"
#include "predict/prefetch/counts.hpp"
#include "predict/prefetch/memory_share.hpp"
#include "predict/prefetch/open_files.hpp"
#include "predict/prefetch/reach.hpp"
#include "predict/prefetch/request_ring.hpp"

namespace halcyon::predict::prefetch {

/// What one thread is expected to read, and what the kernel was asked for of it.
///
/// Used by its thread alone, but for the ring of requests and the counts. The expected reads are a queue: the thread's
/// model is asked anew, from where it is, when half of them have come, or when another read came than expected; reads
/// that were asked for and are still expected keep their requests. Which of them are worth a request is decided when
/// there is room for them.
///
/// How sure a forecast of an offset is, its probability does not tell, which is that of the call. So each call site has
/// to be right twice before it is trusted, and loses most of that trust when it is wrong.
class reader {
  public:
    struct settings {
        double least_probability = 0.5;
        int64_t most_bytes = int64_t{32} << 20;  ///< ahead of the reads, of all threads
        /// Of the reads that are worth a request one in so many is left alone; fewer while it pays.
        uint32_t control_every = 16;
        bool always = false;  ///< also where it does not pay
    };
    struct shared {
        settings chosen;
        memory_share memory;
        asker asks;
    };

    reader(shared& with, uint32_t number) : with_(with), number_(number) { with_.asks.add(number, requests_); }

    /// This thread of the system goes on with it.
    void belongs_to(int thread) { with_.memory.hold(number_, thread); }
    /// A read begins: its request, if that still waits, comes too late.
    void begins(uint32_t file, int64_t offset);
    struct read {
        uint32_t file;
        int descriptor;
        int64_t offset, bytes, moved;
        int64_t end_ns, duration_ns;
    };
    /// It ended, and the model has learnt it.
    void ended(const read& what, thread_model& model);

    [[nodiscard]] const counts& told() const { return counts_; }

  private:
    enum class fate : uint8_t { undecided, contiguous, unsure, not_open, unfit, control, requested };
    struct expected {
        uint32_t file = 0;
        uint32_t symbol = 0;
        int64_t offset = 0;
        int64_t bytes = 0;
        double probability = 0;
        bool goes_on = false;  // where the read before it ended, and the kernel has noticed that
        fate what = fate::undecided;
        // Of one that was requested:
        uint32_t request = 0;
        int64_t requested_bytes = 0;
        bool begun = false;                 // its read has
        outcome became = outcome::waiting;  // then
    };
    static constexpr uint32_t most_expected = 256;
    static constexpr uint32_t least_depth = 8;
    static constexpr size_t most_steps = 512;
    static constexpr int64_t longest_start = int64_t{4} << 20;  // after a jump, before it is left to the kernel
    static constexpr uint8_t trusted = 2;
    static constexpr uint8_t most_trust = 15;
    static constexpr uint32_t patience = 64;  // reads without anything to ask for
    static constexpr uint32_t cached_patience = 16;
    static constexpr uint32_t most_vain = 2;
    static constexpr uint32_t fewest_controls = 16;
    // It rests for so many times what it had cost in vain, each time twice as long.
    static constexpr int64_t least_rest = 64;
    static constexpr int64_t longest_rest = 4096;
    static constexpr int64_t longest_rest_ns = int64_t{300} * 1'000'000'000;

    struct course;

    void follow(const read& what);
    [[nodiscard]] static bool is_as_expected(const expected& one, const read& what);
    void take_first(const read& what);
    void end_request(expected& one, const read& what);
    void expect(thread_model& model);
    void keep_request(expected& fresh, uint32_t& hint);
    void drop(expected& one);
    void give_back(const expected& one);
    void ask(int64_t now_ns);
    [[nodiscard]] bool is_worth_a_look() const;
    [[nodiscard]] fate fate_of(const expected& one, const open_files::place*& where);
    bool request_range(expected& one, const open_files::place& where);
    [[nodiscard]] bool is_control();
    void judge(int64_t now_ns);
    void rest(count why, int64_t cost_ns, int64_t now_ns);

    [[nodiscard]] expected& at(uint32_t i) { return queue_[(first_ + i) % most_expected]; }

    shared& with_;
    uint32_t number_;
    // The queue begins at first_; of its count_ reads the first decided_ have their fate.
    uint32_t first_ = 0;
    uint32_t count_ = 0;
    uint32_t decided_ = 0;
    uint32_t made_ = 0;  // how many it had when it was made
    uint32_t requested_ = 0;
    int64_t requested_bytes_ = 0;
    uint32_t depth_ = least_depth;
    uint32_t until_ask_ = 0;  // reads
    enum class lack : uint8_t { nothing, reads, certainty };
    lack lacks_ = lack::nothing;  // what the queue lacked for asking as far ahead as it may
    uint32_t until_control_ = 0;
    uint32_t fewer_controls_ = 1;
    uint32_t vain_judgements_ = 0;  // in a row
    uint32_t random_ = 0x9E3779B9u;
    uint32_t in_vain_ = 0;  // reads since something was asked for
    uint32_t cached_in_a_row_ = 0;
    int64_t rest_until_ns_ = 0;
    int64_t rest_factor_ = least_rest;
    int64_t work_ns_ = 0;  // since the last rest
    // Of the last read: its file, its end, and how much was read without a jump.
    uint32_t last_file_ = 0;
    int64_t last_end_ = 0;
    int64_t run_ = 0;
    open_files files_;
    reach reach_;
    benefit gain_;
    counts counts_;
    std::array<uint8_t, 1024> trust_{};  // by call site
    std::array<expected, most_expected> queue_;
    std::array<expected, most_expected> before_;  // the queue, while a new one is made
    uint32_t before_count_ = 0;
    std::array<forecast, most_steps> steps_;
    request_ring requests_;
};

}  // namespace halcyon::predict::prefetch
