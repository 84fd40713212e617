#include "logfs/container/reading/data_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/reading/index_intake.hpp"

namespace halcyon::logfs {

data_reader::data_reader(container& from, memory_source& memory, open_files& files, const dropping_table& writers,
                         data_checks& checks, bool verifies)
    : container_(from),
      files_(from, files, writers),
      writers_(writers),
      checks_(checks),
      verifies_(verifies),
      chains_(memory),
      next_(memory),
      touched_(memory),
      parts_(memory) {}

result<void> data_reader::read(std::span<const segment> segments, int64_t begin, std::span<std::byte> out) {
    if (!reserve(segments.size())) return container_.failed({}, "cannot read", ENOMEM);
    chain_up(segments);
    result<void> done;
    for (const uint32_t dropping : touched_) {
        if (done.ok()) done = read_dropping(dropping, segments, begin, out);
        chains_[dropping] = {};
    }
    if (!done) return done;
    for (const segment& each : segments) {
        if (each.is_hole()) std::memset(out.data() + (each.start - begin), 0, static_cast<size_t>(each.length));
    }
    return {};
}

bool data_reader::reserve(size_t segments) {
    const size_t writers = writers_.size();
    if (!next_.resize(segments) || !parts_.reserve(most_parts) || !chains_.reserve(writers)) return false;
    while (chains_.size() < writers) {
        if (!chains_.push({})) return false;
    }
    return touched_.reserve(std::min(segments, writers));
}

void data_reader::release() {
    next_.release();
    parts_.release();
    chains_.release();
    touched_.release();
}

/// The segments of each dropping, in their order.
void data_reader::chain_up(std::span<const segment> segments) {
    touched_.clear();
    for (uint32_t i = 0; i < segments.size(); ++i) {
        if (segments[i].is_hole()) continue;
        chain& of = chains_[segments[i].dropping];
        if (of.first == none) {
            of.first = i;
            static_cast<void>(touched_.push(segments[i].dropping));
        } else {
            next_[of.last] = i;
        }
        of.last = i;
        next_[i] = none;
    }
}

result<void> data_reader::read_dropping(uint32_t dropping, std::span<const segment> segments, int64_t begin,
                                        std::span<std::byte> out) {
    int64_t end = 0;
    const int fd = files_.get(dropping, end);
    if (fd < 0 && fd != -ENODATA) return container_.failed(writers_.data_name_of(dropping).view(), "cannot open", -fd);
    for (uint32_t i = chains_[dropping].first; i != none; i = next_[i]) {
        const int64_t needed = segments[i].physical + segments[i].length;
        if (fd < 0 || needed > end) return files_.elsewhere(dropping, needed);
    }
    parts_.clear();
    int64_t physical = 0;
    int64_t bytes = 0;
    for (uint32_t i = chains_[dropping].first; i != none; i = next_[i]) {
        const segment& each = segments[i];
        if (!parts_.empty() && (each.physical != physical + bytes || parts_.size() == most_parts)) {
            if (auto done = read_parts(dropping, fd, physical, bytes); !done) return done;
            parts_.clear();
        }
        if (parts_.empty()) {
            physical = each.physical;
            bytes = 0;
        }
        static_cast<void>(parts_.push({out.data() + (each.start - begin), static_cast<size_t>(each.length)}));
        bytes += each.length;
    }
    return parts_.empty() ? result<void>() : read_parts(dropping, fd, physical, bytes);
}

result<void> data_reader::read_parts(uint32_t dropping, int fd, int64_t physical, int64_t bytes) {
    if (verifies_) {
        const data_checks::finding found = checks_.check(dropping, fd, physical, physical + bytes);
        if (found.what == data_checks::verdict::damaged) {
            const short_name name = writers_.data_name_of(dropping);
            return container_.damaged(name.view(), "the bytes from " + std::to_string(found.begin) + " to " +
                                                       std::to_string(found.end) + " do not fit their check sum");
        }
        if (found.what != data_checks::verdict::fits) return failed(dropping, "cannot read", found.error);
    }
    iovec* first = parts_.data();
    auto count = static_cast<int>(parts_.size());
    bool is_refreshed = false;
    for (int64_t done = 0; done < bytes;) {
        const int64_t read = container_.calls().read_at(fd, first, count, physical + done);
        ++read_calls_;
        // This host may know of its index, but not of its length yet.
        if (read == 0 && !is_refreshed) {
            is_refreshed = true;
            if (container_.calls().refresh(fd) == 0) continue;
        }
        if (read < 0) return failed(dropping, "cannot read", static_cast<int>(read));
        if (read == 0) {
            const short_name name = writers_.data_name_of(dropping);
            return container_.damaged(name.view(),
                                      "it ends at " + std::to_string(physical + done) + ", but its index reaches to " +
                                          std::to_string(physical + bytes) + "; 'halcyon log repair' cuts that");
        }
        done += read;
        auto rest = static_cast<size_t>(read);
        while (count > 0 && rest >= first->iov_len) {
            rest -= first->iov_len;
            ++first;
            --count;
        }
        if (count > 0 && rest > 0) {
            first->iov_base = static_cast<std::byte*>(first->iov_base) + rest;
            first->iov_len -= rest;
        }
    }
    return {};
}

int64_t data_reader::copy(const segment& from, int to, int64_t* to_offset) {
    int64_t end = 0;
    const int fd = verifies_ ? -EOPNOTSUPP : files_.get(from.dropping, end);
    if (fd < 0 || from.physical + from.length > end) return 0;
    int64_t physical = from.physical;
    return std::max(int64_t{0}, container_.calls().copy(fd, &physical, to, to_offset, from.length));
}

failure data_reader::failed(uint32_t dropping, std::string_view what, int why) const {
    return container_.failed(writers_.data_name_of(dropping).view(), what, -why);
}

}  // namespace halcyon::logfs
