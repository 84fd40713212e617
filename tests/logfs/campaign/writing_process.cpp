#include <algorithm>
#include <cinttypes>
#include <vector>

#include "working_process.hpp"

namespace halcyon::logfs::campaign {

/// What others have published until the turn, and in the end what it did itself, is known to all.
bool writing_process::work() {
    if (!went(file_->refresh(), "refresh")) return false;
    part_ = -1;
    left_ = 0;
    while (place_.left > 0) {
        if (board_.has_lock ? !work_with_lock() : !work_alone()) return false;
        step("between");
    }
    return below(4) == 0 ? went(file_->publish(), "publish") : went(file_->sync(), "sync");
}

/// In pieces, sometimes.
int64_t writing_process::make(const change& what) {
    if (what.what == change::kind::erase) return file_->erase(what.offset, what.length);
    if (what.what == change::kind::truncate) return file_->truncate(what.offset);
    if (what.what == change::kind::reach) return file_->reach(what.offset);
    std::vector<std::byte> data(static_cast<size_t>(what.length));
    fill(what, data);
    if (what.what == change::kind::append) {
        int64_t offset = -1;
        const int64_t done = file_->append(data, offset);
        if (done < 0 || offset == what.offset) return done;
        board_.fail("%s: an append went to %" PRId64 ", the file ended at %" PRId64, who(), offset, what.offset);
        return -1;
    }
    std::vector<iovec> pieces;
    for (size_t at = 0; at < data.size();) {
        const size_t rest = data.size() - at;
        const bool is_last = pieces.size() == 7 || below(4) != 0;
        const size_t length = is_last ? rest : 1 + below(rest);
        pieces.push_back({data.data() + at, length});
        at += length;
    }
    return file_->write(what.offset, pieces.data(), static_cast<int>(pieces.size()));
}

bool writing_process::change_file(change what) {
    what.seed = mixed(below(UINT64_MAX), number_);
    journal& mine = place_.under_way;
    mine.what = what;
    board_.expected.announce(what);
    mine.phase.store(journal::begun, std::memory_order_release);
    const int64_t done = make(what);
    if (!went(done, "a change")) return false;
    if (what.has_bytes() && done != what.length) {
        board_.fail("%s: of a write of %" PRId64 " bytes at %" PRId64 ", %" PRId64 " were written", who(), what.length,
                    what.offset, done);
        return false;
    }
    mine.phase.store(journal::returned, std::memory_order_release);
    step("returned");
    board_.changed_last = what.offset;
    board_.expected.apply(what);
    mine.phase.store(journal::idle, std::memory_order_release);
    ++place_.done;
    --place_.left;
    return true;
}

bool writing_process::work_alone() {
    const uint64_t what = below(100);
    if (what < 80) return work_in_own_part();
    if (what < 93) return look_anywhere();
    --place_.left;
    ++place_.done;
    if (what < 95) return went(file_->publish(), "publish");
    if (what < 97) return went(file_->sync(), "sync");
    if (what < 98) return open_again();
    return went(file_->refresh(), "refresh");
}

/// Mostly writes, in patterns.
bool writing_process::work_in_own_part() {
    const parts& all = board_.of_file;
    if (left_ == 0 || part_ < 0) {
        left_ = 0;
        part_ = static_cast<int>(below(parts::count));
        while (all.owners[part_] != number_) part_ = (part_ + 1) % parts::count;
    }
    const int64_t begin = all.edges[part_];
    const int64_t end = all.edges[part_ + 1];
    const uint64_t what = below(100);
    if (what < 12) {
        ++place_.reads;
        const int64_t offset = between(begin, end - 1);
        return comparison_.equals(*file_, offset, between(1, end - offset), who());
    }
    if (what < 24) {
        change hole;
        hole.what = change::kind::erase;
        hole.offset = between(begin, end - 1);
        hole.length = between(1, std::min<int64_t>(end - hole.offset, 2000));
        return change_file(hole);
    }
    return change_file(next_of_pattern(begin, end));
}

change writing_process::next_of_pattern(int64_t begin, int64_t end) {
    change next;
    if (left_ == 0 || offset_ < begin || offset_ + length_ > end) {
        left_ = between(1, 40);
        length_ = std::min(between(1, below(4) == 0 ? 3000 : 80), end - begin);
        offset_ = between(begin, end - length_);
        if (board_.has_lock && below(2) == 0)
            offset_ = std::clamp(board_.changed_last + between(-200, 200), begin, end - length_);
        stride_ = below(5) == 0 ? 0 : below(3) == 0 ? length_ : length_ + between(0, 200);
        if (below(4) == 0) stride_ = -stride_;
    }
    --left_;
    next.offset = offset_;
    next.length = length_;
    offset_ += stride_;
    return next;
}

/// Some changes at once, each where others have written, too. What the lock gives is compared.
bool writing_process::work_with_lock() {
    if (below(12) == 0) {
        --place_.left;
        ++place_.done;
        return look_anywhere();
    }
    if (!lock()) return false;
    const bool looks_at_all = below(16) == 0;
    const int64_t begin = between(0, expected_file::room - 3000);
    if (looks_at_all ? !comparison_.equals(*file_, who()) : !comparison_.equals(*file_, begin, 3000, who()))
        return false;
    for (int64_t changes = between(1, 6); changes > 0; --changes) {
        if (!change_anywhere()) return false;
    }
    const int64_t again = between(0, expected_file::room - 3000);
    if (below(4) == 0 && !comparison_.equals(*file_, again, 3000, who())) return false;
    return unlock();
}

bool writing_process::change_anywhere() {
    const int64_t size = board_.expected.size();
    const uint64_t kind = below(100);
    change what;
    if (kind < 20) {
        what.length = std::min(between(1, 3000), expected_file::room - size);
        if (what.length > 0) {
            what.what = change::kind::append;
            what.offset = size;
            return change_file(what);
        }
    } else if (kind < 28) {
        what.what = change::kind::erase;
        what.offset = between(0, expected_file::room - 1);
        what.length = between(1, std::min<int64_t>(expected_file::room - what.offset, 5000));
        return change_file(what);
    } else if (kind < 34) {
        what.what = kind < 31 ? change::kind::truncate : change::kind::reach;
        what.offset = between(0, expected_file::room);
        return change_file(what);
    }
    return change_file(next_of_pattern(0, expected_file::room));
}

}  // namespace halcyon::logfs::campaign
