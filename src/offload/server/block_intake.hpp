#pragma once

#include <cstdint>
#include <string>

#include "offload/model/model.hpp"
#include "offload/segment/segment.hpp"
#include "offload/server/held_blocks.hpp"
#include "offload/server/iteration_book.hpp"
#include "offload/server/journal.hpp"
#include "offload/server/loss_report.hpp"
#include "offload/server/spill_files.hpp"

namespace halcyon::offload {

/// Checks what clients say of their blocks, and enters each block into the book or refuses it. It trusts no word of a
/// client: the states of the entries say whose a block is, and the server checks a copy of each entry.
///
/// The loop's thread alone uses it.
class block_intake {
  public:
    block_intake(const segment& shared, const model& data, uint32_t generation, iteration_book& book, held_blocks& held,
                 spill_files& spilled, journal& notes, loss_report& losses);

    /// A client announced entry `index`, which is in its table; `handed`: it does not read the block any more.
    void adopt(uint32_t client, uint32_t index, uint64_t sequence, bool handed);
    /// A block whose entry is damaged is lost: said, counted, and its room given back, or its client would wait for
    /// that.
    void refuse(iteration_book::key k, uint64_t sequence, bool handed, const std::string& why);
    /// What a client sent makes no sense: said and counted.
    void reject(uint32_t client, const std::string& what);
    /// A block that a client says will not come.
    void note_absent(uint32_t client, const absence& a);
    /// Adopts what a client that died had committed or handed over before it could say so.
    void adopt_from_dead(uint32_t client);

  private:
    const segment& segment_;
    const model& data_;
    uint32_t generation_;
    iteration_book& book_;
    held_blocks& held_;
    spill_files& spill_files_;
    journal& journal_;
    loss_report& losses_;
};

}  // namespace halcyon::offload
