#include "coordinate/fencing/epoch.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <limits>

#include "base/clock.hpp"
#include "base/closest_name.hpp"
#include "base/replace_file.hpp"
#include "base/text_file.hpp"

namespace halcyon::coordinate {
namespace {

constexpr int64_t quarter_ns = 250'000'000;
constexpr int64_t begin_of_2025_ns = 1'735'689'600 * int64_t{1'000'000'000};
constexpr uint64_t highest = std::numeric_limits<uint32_t>::max();

void wait_for_next_quarter() {
    const int64_t left_ns = quarter_ns - realtime_ns() % quarter_ns;
    timespec rest{0, static_cast<long>(left_ns)};
    while (::nanosleep(&rest, &rest) != 0 && errno == EINTR) {
    }
}

}  // namespace

uint64_t epoch_by_clock() {
    return static_cast<uint64_t>(std::max<int64_t>((realtime_ns() - begin_of_2025_ns) / quarter_ns, 1));
}

result<uint64_t> own_epochs::stored(std::string& warning) const {
    if (file_.empty()) return uint64_t{0};
    const auto text = read_text_file(file_);
    if (!text && text.why().system_errno == ENOENT) return uint64_t{0};
    if (!text) return text.why();
    if (text->empty()) {
        warning = file_ + " is empty, as a power loss may leave a file; the clock gives the epoch";
        return uint64_t{0};
    }
    const std::string_view digits = std::string_view(*text).substr(0, text->find('\n'));
    uint64_t number = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (problem != std::errc{} || end != digits.data() + digits.size() || number > highest)
        return failure{error_kind::config,
                       file_ + ":1: '" + printable(digits) +
                           "'; expected the number of the latest epoch. Without the file, the clock gives it",
                       0};
    return number;
}

result<epoch_source::epoch> own_epochs::next() {
    epoch made;
    const auto before = stored(made.warning);
    if (!before) return before.why();
    const uint64_t least = std::max(latest_, *before) + 1;
    // Of the numbers that the clock gives, the file may have lost one that was given a moment ago. One that the clock
    // is about to give would be given again by a start behind this one.
    const bool by_clock = epoch_by_clock() + 1 >= least;
    if (by_clock) wait_for_next_quarter();
    made.number = std::max(least, epoch_by_clock());
    if (!file_.empty()) {
        if (const auto kept = replace_file(file_, std::to_string(made.number) + "\n", lasting::yes); !kept) {
            // As without a file. A number ahead of the clock would come again with the next start, and clients that
            // have seen this start's grants would take that daemon for theirs and refuse all that it grants.
            if (!by_clock) {
                wait_for_next_quarter();
                made.number = epoch_by_clock();
            }
            if (made.number < least)
                return failure{error_kind::system,
                               kept.why().message + "; the clock is behind the latest epoch, " +
                                   std::to_string(least - 1) + ", so that the next one must be written",
                               kept.why().system_errno};
            made.warning = kept.why().message + "; the epoch follows the clock alone";
        }
    }
    if (made.number > highest)
        return failure{error_kind::system,
                       "epoch " + std::to_string(made.number) + " is beyond 2^32: the clock or the epoch file is wrong",
                       0};
    latest_ = made.number;
    return made;
}

}  // namespace halcyon::coordinate
