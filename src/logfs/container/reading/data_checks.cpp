#include "logfs/container/reading/data_checks.hpp"

#include <algorithm>
#include <cerrno>

#include "base/crc32c.hpp"

namespace halcyon::logfs {

bool data_checks::make_room_for(uint32_t dropping) {
    if (!summed_.reserve(dropping + size_t{1})) return false;
    while (summed_.size() <= dropping) {
        if (!summed_.push({0, false})) return false;
    }
    return true;
}

bool data_checks::add(uint32_t dropping, int64_t bytes, uint32_t sum) {
    if (!make_room_for(dropping)) return false;
    summed_part& summed = summed_[dropping];
    int64_t end = 0;
    if (summed.is_all || __builtin_add_overflow(summed.end, bytes, &end)) return true;  // of no file that there can be
    if (!checks_.push({dropping, sum, summed.end, end, false})) return false;
    summed.end = end;
    is_sorted_ = false;
    return true;
}

bool data_checks::stop(uint32_t dropping) {
    if (!make_room_for(dropping)) return false;
    summed_[dropping].is_all = true;
    return true;
}

void data_checks::sort() {
    if (is_sorted_) return;
    is_sorted_ = true;
    std::sort(checks_.begin(), checks_.end(), [](const one& a, const one& b) {
        return a.dropping != b.dropping ? a.dropping < b.dropping : a.begin < b.begin;
    });
}

/// The first one that reaches behind `begin`, or belongs to a later dropping.
data_checks::one* data_checks::first_behind(uint32_t dropping, int64_t begin) {
    sort();
    return std::partition_point(checks_.begin(), checks_.end(), [&](const one& a) {
        return a.dropping != dropping ? a.dropping < dropping : a.end <= begin;
    });
}

data_checks::finding data_checks::check(uint32_t dropping, int fd, int64_t begin, int64_t end) {
    for (one* each = first_behind(dropping, begin);
         each != checks_.end() && each->dropping == dropping && each->begin < end; ++each) {
        if (each->is_checked) continue;
        const finding found = compare(*each, fd);
        if (found.what != verdict::fits) return found;
        each->is_checked = true;
    }
    return {};
}

void data_checks::widen(uint32_t dropping, int64_t& begin, int64_t& end) {
    const auto is_part = [&](const one* each) {
        return each != checks_.end() && each->dropping == dropping && each->begin < end;
    };
    const one* const first = first_behind(dropping, begin);
    const one* const last = first_behind(dropping, end - 1);
    const int64_t from = is_part(first) ? std::min(begin, first->begin) : begin;
    end = is_part(last) ? std::max(end, last->end) : end;
    begin = from;
}

data_checks::finding data_checks::compare(const one& with, int fd) {
    constexpr int64_t room = int64_t{1} << 20;
    if (!buffer_.resize(static_cast<size_t>(std::min<int64_t>(room, with.end - with.begin))))
        return {verdict::no_memory, with.begin, with.end, -ENOMEM};
    uint32_t sum = 0;
    for (int64_t at = with.begin; at < with.end;) {
        const auto wanted = static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(buffer_.size()), with.end - at));
        const iovec part{buffer_.data(), wanted};
        int64_t bytes = calls_.read_at(fd, &part, 1, at);
        if (bytes == 0 && calls_.refresh(fd) == 0) bytes = calls_.read_at(fd, &part, 1, at);
        if (bytes < 0) return {verdict::unreadable, with.begin, with.end, static_cast<int>(bytes)};
        if (bytes == 0) return {verdict::damaged, with.begin, with.end, -EIO};
        sum = crc32c({buffer_.data(), static_cast<size_t>(bytes)}, sum);
        at += bytes;
    }
    return {sum == with.sum ? verdict::fits : verdict::damaged, with.begin, with.end, -EIO};
}

}  // namespace halcyon::logfs
