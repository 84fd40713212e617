#pragma once

#include <cstdint>

namespace halcyon::logfs {

/// What is wrong with an index dropping.
struct index_damage {
    enum class part : uint8_t {
        none,
        magic,         ///< it is none of ours
        version,       ///< of another format version, in `seen`
        header,        ///< the rest of its header
        state,         ///< a slot of its state
        commit,        ///< a slot of its commit
        block,         ///< the records of a block, or of several that follow one another
        missing_block  ///< the file ends before it
    };
    part what = part::none;
    bool is_torn = false;    ///< behind the last commit: as a crash of the node leaves it
    bool is_passed = false;  ///< it lies behind the scan, which does not come back to it
    int64_t offset = 0;
    uint64_t seen = 0;
    /// Of a block: the part of the data dropping that its lost records may name.
    int64_t data_from = 0;
    int64_t data_to = 0;
    uint32_t blocks = 1;

    explicit operator bool() const { return what != part::none; }
    /// Takes in damage to the next block, so that however many follow one another are one. False: it is none such.
    bool join(const index_damage& next);
    [[nodiscard]] const char* description() const;
};

}  // namespace halcyon::logfs
