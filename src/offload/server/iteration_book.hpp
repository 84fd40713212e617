#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "offload/segment/segment.hpp"
#include "offload/store/store.hpp"

namespace halcyon::offload {

/// Which blocks of which client belong to which iteration, what became of them, and which iterations are complete.
/// Pure bookkeeping of one node: no shared memory, no files, no threads.
///
/// An iteration is complete when every live client of the node ended it. A client that closed or died is not live.
class iteration_book {
  public:
    using key = uint64_t;  ///< client and entry index
    static key key_of(uint32_t client, uint32_t index) { return uint64_t{client} << 32 | index; }

    struct held {
        checked_block block;
        bool handed = false;    ///< the client will not read it any more
        bool stored = false;    ///< in a closed file (or it needs none)
        bool early = false;     ///< that file is an early part
        bool buried = false;    ///< as well, and its bytes are given back
        bool in_job = false;    ///< a job reads it for a file
        int pins = 0;           ///< actions that read it
        bool constant = false;  ///< outlives its iteration
    };
    struct iteration {
        std::vector<key> blocks;
        std::vector<missing_block> missing;
        int64_t bytes = 0;                 ///< of `blocks`
        int64_t unwritten = 0;             ///< of `blocks`: those whose file could not be written
        int64_t unwritten_bytes = 0;       ///< of these
        int64_t given_up = 0;              ///< of these: those that are not in `missing`
        int64_t complete_ns = 0;           ///< real time
        bool incomplete = false;           ///< a client died, or closed and owes blocks, before it ended it
        std::set<uint32_t> closed_before;  ///< clients that closed and would have written blocks of it
        size_t stores_left = 0;            ///< stores that have not written it yet
    };

    iteration_book(const model& data, std::vector<int> client_ranks, int64_t first_iteration = 0);

    /// A block has come (committed or handed). Null when it was known already; then only `handed` is noted.
    const held* adopt(const checked_block& b, bool handed);
    [[nodiscard]] const held* find(key k) const;
    void forget(key k);

    // What becomes of a block that the book holds.
    void hand_over(key k) { held_.at(k).handed = true; }
    void pin(key k) { ++held_.at(k).pins; }
    /// A file that is on its way holds it; only one does.
    void put_into_file(key k) { held_.at(k).in_job = true; }
    void take_out_of_file(key k) { held_.at(k).in_job = false; }
    /// Its bytes are given back; it is in an early part.
    void bury(key k) { held_.at(k).buried = true; }

    // As well; nothing happens where the book does not hold it any more.
    void unpin(key k);
    /// It needs no file any more, since one is closed (`early`: of a part) or given up.
    void mark_stored(key k, bool early);
    /// Its file could not be written. Of an early part: the file of the iteration says that the block is missing.
    void note_unwritten(key k, bool of_early_part);

    /// A block that was held and is lost.
    void note_lost(const missing_block& lost) { iterations_.at(lost.iteration).missing.push_back(lost); }
    /// A block that will be in no file; once noted, it is not noted again.
    void note_missing(uint32_t client, uint32_t variable, int32_t block, int64_t iteration, missing_block::why reason);

    void client_ended(uint32_t client, int64_t iteration);
    /// The (variable, block) that a client wrote in the last iteration that it ended: in later ones it owes these.
    using block_names = std::set<std::pair<uint32_t, int32_t>>;
    [[nodiscard]] const block_names& wrote_last(uint32_t client) const { return clients_[client].wrote_last; }
    /// One of these, in an iteration of which the book has no blocks any more.
    void remember_written(uint32_t client, uint32_t variable, int32_t block) {
        clients_[client].wrote_last.emplace(variable, block);
    }
    enum class leaving { closed, died };
    void client_left(uint32_t client, leaving how);
    [[nodiscard]] bool is_live(uint32_t client) const { return clients_[client].live; }
    [[nodiscard]] bool anybody_live() const;
    [[nodiscard]] int64_t ended_through(uint32_t client) const { return clients_[client].ended_through; }
    /// A client's iterations follow each other: none is later than the one after the last that it ended.
    [[nodiscard]] bool is_plausible(uint32_t client, int64_t iteration) const {
        return iteration >= 0 && iteration <= ended_through(client) + 1;
    }

    /// The next complete iteration in order, once; nullopt when there is none.
    std::optional<int64_t> take_complete();
    /// The iterations that have begun and are neither complete nor dropped.
    [[nodiscard]] std::vector<int64_t> open_iterations() const;
    [[nodiscard]] const iteration& at(int64_t number) const { return iterations_.at(number); }
    /// A complete iteration is to be written by `stores` stores.
    void begin_storing(int64_t number, int64_t complete_ns, size_t stores);
    /// A store has written it, or has given it up. True: that was the last one.
    bool store_is_through(int64_t number) { return --iterations_.at(number).stores_left == 0; }
    void drop(int64_t number) { iterations_.erase(number); }
    [[nodiscard]] bool knows(int64_t number) const { return iterations_.contains(number); }
    [[nodiscard]] bool empty() const { return iterations_.empty(); }
    [[nodiscard]] int64_t next_to_complete() const { return next_; }
    [[nodiscard]] int rank_of(uint32_t client) const { return client_ranks_[client]; }
    /// Those that outlive their iterations.
    [[nodiscard]] const std::set<key>& constants() const { return constants_; }
    [[nodiscard]] const std::unordered_map<key, held>& all() const { return held_; }
    [[nodiscard]] const std::map<int64_t, iteration>& iterations() const { return iterations_; }

  private:
    struct client_state {
        bool live = true;
        bool died = false;
        int64_t ended_through = -1;
        block_names wrote_last;
    };
    void attribute_missing(int64_t number);

    const model& data_;
    std::vector<int> client_ranks_;
    std::vector<client_state> clients_;
    std::unordered_map<key, held> held_;
    std::set<key> constants_;  ///< of these
    std::map<int64_t, iteration> iterations_;
    int64_t next_;
};

}  // namespace halcyon::offload
