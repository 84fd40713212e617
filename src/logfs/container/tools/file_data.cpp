#include "logfs/container/tools/file_data.hpp"

#include <algorithm>
#include <cerrno>
#include <string>

#include "logfs/container/tools/stats.hpp"

namespace halcyon::logfs {

uint64_t published(const reader& of) {
    uint64_t sum = of.writers().size();
    for (uint32_t i = 0; i < of.writers().size(); ++i) sum += of.writers()[i].state_sequence;
    return sum;
}

result<void> file_data::hand_over(int64_t size, const taking& take, const telling& tell) {
    buffer_.resize(size_t{4} << 20);
    conflict_bytes_ = 0;
    for (int64_t at = 0; at < size;) {
        const auto found = from_.segments(at, size);
        if (!found) return found.why();
        conflict_bytes_ += bytes_of(from_.conflicts());
        // Reading resolves anew: the segments do not last.
        const std::vector<segment> parts(found->begin(), found->end());
        for (size_t i = 0; i < parts.size();) {
            if (parts[i].is_hole()) {
                ++i;
                continue;
            }
            const int64_t begin = parts[i].start;
            int64_t end = begin;
            for (; i < parts.size() && !parts[i].is_hole(); ++i) end = parts[i].end();
            if (auto done = stretch(begin, std::min(end, size), take, tell); !done) return done;
        }
        at = parts.back().end();
        if (auto go_on = told(tell, at); !go_on) return go_on;
    }
    return {};
}

/// Without a hole, in pieces of the buffer's size.
result<void> file_data::stretch(int64_t begin, int64_t end, const taking& take, const telling& tell) {
    for (int64_t at = begin; at < end;) {
        const auto wanted = static_cast<size_t>(std::min(static_cast<int64_t>(buffer_.size()), end - at));
        const auto read = from_.read(at, {buffer_.data(), wanted});
        if (!read) return read.why();
        if (*read == 0 && from_.size() > at) return from_.of().failed({}, "ended while it was read", EIO);
        if (*read == 0) return {};
        if (auto taken = take(at, std::span(buffer_).first(static_cast<size_t>(*read))); !taken) return taken;
        at += *read;
        // The end of a short one is not worth it: there may be millions.
        if (auto go_on = at < end ? told(tell, at) : result<void>(); !go_on) return go_on;
    }
    return {};
}

result<void> file_data::told(const telling& tell, int64_t done) const {
    if (!tell || tell(done)) return {};
    return failure{error_kind::unavailable, std::string(from_.of().path()) + ": stopped", ECANCELED};
}

}  // namespace halcyon::logfs
