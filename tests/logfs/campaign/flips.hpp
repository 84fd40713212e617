#pragma once

#include <random>
#include <string>

#include "board.hpp"
#include "comparison.hpp"
#include "counts.hpp"
#include "settings.hpp"

namespace halcyon::logfs::campaign {

/// Changes single bits of droppings, one at a time, while nobody works on the file: reads of it fail, or give the right
/// bytes.
class flips {
  public:
    flips(board& of, const round_settings& how, counts& into) : board_(of), how_(how), counts_(into), same_(of) {}

    /// False: wrong bytes, or a failure that is none of damage; the board says which.
    bool flip_one(std::mt19937_64& random);

  private:
    enum class outcome : uint8_t { right, found, wrong, failed };

    outcome read_all();
    bool is_summed(const std::string& data_path, uint64_t byte);

    board& board_;
    const round_settings& how_;
    counts& counts_;
    comparison same_;
    std::vector<std::byte> buffer_;
    std::string why_;
};

}  // namespace halcyon::logfs::campaign
