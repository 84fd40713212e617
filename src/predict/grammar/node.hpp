#pragma once

#include <cstdint>

#include "predict/grammar/index.hpp"

namespace halcyon::predict {

/// A symbol and how often it is repeated: `symbol | exponent << 24`, the key of half a digram.
using run = uint64_t;

constexpr run make_run(symbol_index symbol, uint64_t exponent) {
    return symbol | exponent << index_bits;
}
constexpr symbol_index symbol_of(run r) {
    return static_cast<symbol_index>(r & index_mask);
}
constexpr uint64_t exponent_of(run r) {
    return r >> index_bits;
}

/// One run in the body of a rule, 24 bytes. The bodies are rings: each has a guard between its last and first node.
/// The nodes of one symbol are its occurrences, a list from the newest to the oldest; one at the beginning or the end
/// of a rule is as new as the rule's last use.
class node {
  public:
    static node fresh(uint32_t) { return {}; }

    // What it is. A guard has the symbol of its rule and the exponent 0.
    [[nodiscard]] predict::run run() const { return run_; }
    [[nodiscard]] symbol_index symbol() const { return symbol_of(run_); }
    [[nodiscard]] uint64_t exponent() const { return exponent_of(run_); }
    [[nodiscard]] bool guard() const { return exponent() == 0; }
    void set_run(predict::run r) { run_ = r; }

    // Where it stands.
    [[nodiscard]] node_index previous() const { return static_cast<node_index>(links_ & index_mask); }
    [[nodiscard]] node_index next() const { return static_cast<node_index>(links_ >> next_at & index_mask); }
    void set_previous(node_index i) { put(links_, 0, index_mask, i); }
    void set_next(node_index i) { put(links_, next_at, index_mask, i); }

    // The other occurrences of its symbol.
    [[nodiscard]] node_index older() const { return static_cast<node_index>(occurrences_ & index_mask); }
    [[nodiscard]] node_index newer() const { return static_cast<node_index>(occurrences_ >> newer_at & index_mask); }
    void set_older(node_index i) { put(occurrences_, 0, index_mask, i); }
    void set_newer(node_index i) { put(occurrences_, newer_at, index_mask, i); }

    /// Of the rule whose body it stands in: see symbol_entry::label.
    [[nodiscard]] uint32_t label() const {
        return static_cast<uint32_t>((links_ >> label_high_at & 0xFF) << 16 | occurrences_ >> label_low_at);
    }
    void set_label(uint32_t label) {
        put(links_, label_high_at, 0xFF, label >> 16);
        put(occurrences_, label_low_at, 0xFFFF, label & 0xFFFF);
    }

    /// How many cursors have it in their path: at most 31.
    [[nodiscard]] uint32_t marks() const { return static_cast<uint32_t>(links_ >> marks_at & 31); }
    void mark() { links_ += uint64_t{1} << marks_at; }
    void unmark() { links_ -= uint64_t{1} << marks_at; }

    /// The digram of it and the next one is in the table of digrams.
    [[nodiscard]] bool indexed() const { return (links_ >> indexed_at & 1) != 0; }
    void set_indexed(bool yes) { put(links_, indexed_at, 1, yes ? 1 : 0); }

    /// The digram of it and the next one waits to be looked up.
    [[nodiscard]] bool queued() const { return (links_ >> queued_at & 1) != 0; }
    void set_queued(bool yes) { put(links_, queued_at, 1, yes ? 1 : 0); }

    [[nodiscard]] uint32_t next_free() const { return next(); }
    void set_free(uint32_t next) {
        *this = {};
        run_ = nothing;
        set_next(next);
    }
    [[nodiscard]] bool freed() const { return run_ == nothing; }

  private:
    static constexpr unsigned next_at = 24, label_high_at = 48, marks_at = 56, indexed_at = 61, queued_at = 62;
    static constexpr unsigned newer_at = 24, label_low_at = 48;

    static void put(uint64_t& word, unsigned at, uint64_t mask, uint64_t value) {
        word = (word & ~(mask << at)) | value << at;
    }

    predict::run run_ = 0;
    uint64_t links_ = 0;
    uint64_t occurrences_ = uint64_t{nothing} << newer_at | nothing;
};
static_assert(sizeof(node) == 24);

}  // namespace halcyon::predict
