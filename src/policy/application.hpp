#pragma once

#include <cstdint>
#include <vector>

namespace halcyon::policy {

/// What an application does about the shared file system.
enum class movement : uint8_t {
    computing,    ///< registered, in no I/O phase, and none is forecast
    expected,     ///< in no I/O phase; one is forecast
    waiting,      ///< in an I/O phase, and has not moved a byte of it
    moving,       ///< may move bytes
    interrupted,  ///< in an I/O phase of which it has moved some, and was stopped
};

/// One application as a decision sees it. Times are in seconds, of one clock that does not step. A number that makes no
/// sense (not finite, negative, a demand above 1) never fails a decision: the comment says what stands for it.
struct application {
    uint64_t id = 0;  ///< others learn by it; no two of a situation have the same
    movement state = movement::computing;

    int64_t processes = 1;      ///< that wait for the I/O; at least 1
    int64_t nodes = 1;          ///< likewise
    double watts_per_node = 1;  ///< 0 where it makes no sense
    uint32_t account = 0;       ///< who pays
    double account_weight = 1;  ///< how much its time counts, beside other accounts' (else 1)

    int64_t bytes_left = 0;  ///< of the phase; for leases and displays, no decision reads it
    double alone_s = 0;      ///< duration of the whole phase without others (else: what is left)
    double left_s = 0;  ///< time that the phase still needs without others; 0: it ends now. Else: the whole phase, or
                        ///< 1 s, the first that makes sense
    double arrived_s = 0;    ///< begin of the phase; where expected, the begin that is forecast (else now)
    double probability = 1;  ///< of an expected phase (else 0)

    std::vector<uint32_t> targets;  ///< storage targets that it uses, in ascending order; none: all of them
    double demand = 1;              ///< share of its targets' bandwidth that it takes alone, above 0 up to 1 (else 1)
    double weight = 1;  ///< of its share beside others where the storage is the limit: its requests under way (else 1)

    double since_s = 0;           ///< since when it is in this state (else: since now)
    double waited_s = 0;          ///< how long it waited before the turn that it has now; only where it moves (else 0)
    double between_starts_s = 0;  ///< mean time between the starts of its I/O phases; 0: not known
};

/// In an I/O phase.
constexpr bool present(const application& one) {
    return one.state == movement::waiting || one.state == movement::moving || one.state == movement::interrupted;
}

}  // namespace halcyon::policy
