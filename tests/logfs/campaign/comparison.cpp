#include "comparison.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

namespace halcyon::logfs::campaign {
namespace {

const char* name_of(change::kind what) {
    constexpr const char* names[] = {"write", "append", "erase", "truncate", "reach"};
    return names[static_cast<int>(what)];
}

bool is_zero(std::span<const std::byte> all) {
    return std::all_of(all.begin(), all.end(), [](std::byte each) { return each == std::byte{0}; });
}

}  // namespace

/// Behind the end of the file the buffer is zero.
bool comparison::read(tested_file& file, int64_t offset, int64_t length, int64_t& moved, const char* who) {
    moved = file.read(offset, {buffer_, static_cast<size_t>(length)});
    if (moved >= 0) {
        std::memset(buffer_ + moved, 0, static_cast<size_t>(length - moved));
        return true;
    }
    board_.fail("%s: a read of %" PRId64 " bytes from %" PRId64 " on fails: errno %" PRId64 " %s", who, length, offset,
                -moved, file.why().c_str());
    return false;
}

bool comparison::equals(tested_file& file, const char* who) {
    const int64_t size = file.size();
    if (size != board_.expected.size()) {
        board_.fail("%s: the file has %" PRId64 " bytes instead of %" PRId64 " %s", who, size, board_.expected.size(),
                    file.why().c_str());
        return false;
    }
    return equals(file, 0, expected_file::room, who);
}

bool comparison::equals(tested_file& file, int64_t offset, int64_t length, const char* who) {
    int64_t moved = 0;
    if (!read(file, offset, length, moved, who)) return false;
    const auto expected = board_.expected.bytes(offset, length);
    const auto* const differs = std::mismatch(expected.begin(), expected.end(), buffer_).second;
    if (differs == buffer_ + length) return true;
    const int64_t at = differs - buffer_;
    board_.fail("%s: byte %" PRId64 " is %d instead of %d, in a read of %" PRId64 " bytes from %" PRId64
                " on, which returned %" PRId64,
                who, offset + at, static_cast<int>(buffer_[at]), static_cast<int>(expected[static_cast<size_t>(at)]),
                length, offset, moved);
    return false;
}

bool comparison::is_allowed(tested_file& file, int64_t offset, int64_t length, const char* who) {
    int64_t moved = 0;
    if (!read(file, offset, length, moved, who)) return false;
    for (int64_t i = 0; i < moved; ++i) {
        if (board_.expected.allows(offset + i, buffer_[i])) continue;
        board_.fail("%s: byte %" PRId64 " is %d, which nobody wrote there since the last turn, nor was it there", who,
                    offset + i, static_cast<int>(buffer_[i]));
        return false;
    }
    return true;
}

bool comparison::was_made(const change& what, tested_file& file, bool has_lock, bool& made) {
    const int64_t before = board_.expected.size();
    const int64_t size = file.size();
    if (what.is_of_size()) {
        const int64_t after = what.what == change::kind::truncate ? what.offset : std::max(before, what.offset);
        made = size == after;
        if (size == after || size == before) return true;
        board_.fail("a writer was killed in the middle of a %s to %" PRId64 ": the file had %" PRId64
                    " bytes, and has %" PRId64,
                    name_of(what.what), what.offset, before, size);
        return false;
    }
    int64_t moved = 0;
    if (!read(file, what.offset, what.length, moved, "who comes after a killed writer")) return false;
    const std::span<const std::byte> found(buffer_, static_cast<size_t>(what.length));
    std::byte data[expected_file::longest] = {};
    if (what.has_bytes()) fill(what, {data, found.size()});
    const bool is_new = what.has_bytes() ? std::equal(found.begin(), found.end(), data) : is_zero(found);
    const bool is_old = std::ranges::equal(found, board_.expected.bytes(what.offset, what.length));
    made = is_new;
    if (!is_new && !is_old) {
        board_.fail("a writer was killed in the middle of a %s of %" PRId64 " bytes at %" PRId64
                    ": neither all of it nor nothing is there",
                    name_of(what.what), what.length, what.offset);
        return false;
    }
    if (!has_lock) return true;
    const int64_t after = is_new && what.has_bytes() ? std::max(before, what.end()) : before;
    if (size == after) return true;
    board_.fail("a writer was killed in the middle of a %s of %" PRId64 " bytes at %" PRId64 ": the file has %" PRId64
                " bytes instead of %" PRId64,
                name_of(what.what), what.length, what.offset, size, after);
    return false;
}

bool comparison::resolve(place& of, tested_file& file, bool has_lock) {
    journal& left = of.under_way;
    const uint32_t phase = left.phase.load(std::memory_order_acquire);
    if (phase == journal::idle) return true;
    bool made = phase == journal::returned;
    if (!made && !was_made(left.what, file, has_lock, made)) return false;
    if (made) board_.expected.apply(left.what);
    left.phase.store(journal::idle, std::memory_order_release);
    return true;
}

bool comparison::resolve_all(tested_file& file, bool has_lock) {
    return std::ranges::all_of(board_.places, [&](place& each) { return resolve(each, file, has_lock); });
}

}  // namespace halcyon::logfs::campaign
