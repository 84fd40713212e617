#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "logfs/container/directory/container.hpp"

namespace halcyon::logfs {

/// One thing that a check found.
struct check_finding {
    enum class weight : uint8_t {
        note,    ///< nothing is wrong
        loss,    ///< what a crash leaves: nothing that was synced is missing
        damage,  ///< reads fail, or would give wrong bytes
    };
    weight how = weight::note;
    std::string where;  ///< a file in the container
    std::string what;
    std::string concerns;  ///< which bytes of the file or of which dropping; empty: none
};

struct check_report {
    std::vector<check_finding> findings;
    uint64_t writers = 0;
    uint64_t open_writers = 0;  ///< that did not close: they still write, or were killed
    int64_t size = 0;
    int64_t conflict_bytes = 0;
    int64_t checked_bytes = 0;  ///< of data, against the sums that writers left

    [[nodiscard]] uint64_t count(check_finding::weight how) const;
    [[nodiscard]] bool is_sound() const { return count(check_finding::weight::damage) == 0; }
};

struct check_options {
    bool reads_data = true;  ///< compares data with their sums, where there are any
    bool finds_conflicts = true;
};

/// What is wrong with a container, and which bytes that concerns. Failure: it cannot be opened at all.
result<check_report> check(container& what, const check_options& how = {});

/// For a message: `damage: <container>/index.…: …`.
std::string describe(const check_finding& what);

}  // namespace halcyon::logfs
