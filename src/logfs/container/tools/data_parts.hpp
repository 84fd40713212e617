#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "logfs/container/reading/reader.hpp"

namespace halcyon::logfs {

/// Parts of data droppings, and where the file reads them. However many parts there are, the file is gone through once.
class data_parts {
  public:
    /// Parts of one dropping do not overlap. The part's number.
    size_t add(uint32_t dropping, int64_t begin, int64_t end);
    [[nodiscard]] bool empty() const { return parts_.empty(); }

    result<void> find(reader& in);

    /// After find().
    [[nodiscard]] bool is_read(size_t number) const { return parts_[number].ranges > 0; }
    /// `bytes 0 to 100, 400 to 500 of the file`; of many, the first ones.
    [[nodiscard]] std::string describe(size_t number) const;

  private:
    struct part {
        uint32_t dropping;
        int64_t begin;
        int64_t end;
        uint64_t ranges = 0;
        std::string first;  // of the ranges
    };

    void note(const segment& read);

    std::vector<part> parts_;
    std::vector<size_t> order_;  // by dropping and place
};

}  // namespace halcyon::logfs
