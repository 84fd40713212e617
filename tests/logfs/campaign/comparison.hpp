#pragma once

#include "board.hpp"
#include "tested_file.hpp"

namespace halcyon::logfs::campaign {

/// Compares files with what they are to hold. False: the board says why.
class comparison {
  public:
    explicit comparison(board& of) : board_(of) {}

    /// All of it, its size, too. Nobody changes it meanwhile.
    bool equals(tested_file& file, const char* who);
    /// A range, which nobody else changes meanwhile.
    bool equals(tested_file& file, int64_t offset, int64_t length, const char* who);
    /// While others write: each byte is one that may be seen.
    bool is_allowed(tested_file& file, int64_t offset, int64_t length, const char* who);
    /// Whether what a killed writer was about to do was done: all of it or nothing, and the expected file says so then.
    /// `has_lock`: nobody else changes the size meanwhile.
    bool resolve(place& of, tested_file& file, bool has_lock);
    /// The same of all that were killed; in turns with a lock, by who has that.
    bool resolve_all(tested_file& file, bool has_lock);

  private:
    bool read(tested_file& file, int64_t offset, int64_t length, int64_t& moved, const char* who);
    bool was_made(const change& what, tested_file& file, bool has_lock, bool& made);

    board& board_;
    std::byte buffer_[expected_file::room + 1];
};

}  // namespace halcyon::logfs::campaign
