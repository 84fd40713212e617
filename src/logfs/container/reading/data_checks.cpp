#include "logfs/container/reading/data_checks.hpp"

#include <algorithm>
#include <cerrno>

#include "base/crc32c.hpp"

namespace halcyon::logfs {

bool data_checks::add(uint32_t dropping, int64_t bytes, uint32_t sum) {
    while (ends_.size() <= dropping) {
        if (!ends_.push(0)) return false;
    }
    const int64_t begin = ends_[dropping];
    int64_t end = 0;
    if (__builtin_add_overflow(begin, bytes, &end)) return true;  // of no file that there can be
    const one added{dropping, sum, begin, end, false};
    if (!checks_.push(added)) return false;
    ends_[dropping] = end;
    is_sorted_ = false;
    return true;
}

void data_checks::sort() {
    if (is_sorted_) return;
    is_sorted_ = true;
    std::sort(checks_.begin(), checks_.end(), [](const one& a, const one& b) {
        return a.dropping != b.dropping ? a.dropping < b.dropping : a.begin < b.begin;
    });
}

data_checks::finding data_checks::check(uint32_t dropping, int fd, int64_t begin, int64_t end) {
    sort();
    one* each = std::partition_point(checks_.begin(), checks_.end(), [&](const one& a) {
        return a.dropping != dropping ? a.dropping < dropping : a.end <= begin;
    });
    for (; each != checks_.end() && each->dropping == dropping && each->begin < end; ++each) {
        if (each->is_checked) continue;
        const finding found = compare(*each, fd);
        if (found.what != verdict::fits) return found;
        each->is_checked = true;
    }
    return {};
}

data_checks::finding data_checks::compare(const one& with, int fd) {
    constexpr int64_t room = int64_t{1} << 20;
    if (!buffer_.resize(static_cast<size_t>(std::min<int64_t>(room, with.end - with.begin))))
        return {verdict::no_memory, with.begin, with.end, -ENOMEM};
    uint32_t sum = 0;
    for (int64_t at = with.begin; at < with.end;) {
        const auto wanted = static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(buffer_.size()), with.end - at));
        const iovec part{buffer_.data(), wanted};
        const int64_t bytes = calls_.read_at(fd, &part, 1, at);
        if (bytes < 0) return {verdict::unreadable, with.begin, with.end, static_cast<int>(bytes)};
        if (bytes == 0) return {verdict::damaged, with.begin, with.end, -EIO};
        sum = crc32c({buffer_.data(), static_cast<size_t>(bytes)}, sum);
        at += bytes;
    }
    return {sum == with.sum ? verdict::fits : verdict::damaged, with.begin, with.end, -EIO};
}

}  // namespace halcyon::logfs
