#include "offload/store/hdf5/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <new>

#include "base/sync_path.hpp"

namespace halcyon::offload::hdf5 {
namespace {

std::string folder_of(const std::string& path) {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

output_file::output_file(std::string temporary) : temporary_(std::move(temporary)) {
    constexpr int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    descriptor_ = open(temporary_.c_str(), flags, 0666);
    if (descriptor_ < 0 && errno == EEXIST && unlink(temporary_.c_str()) == 0) {
        descriptor_ = open(temporary_.c_str(), flags, 0666);
    }
    if (descriptor_ < 0) throw error(system_failure(temporary_ + ": cannot create", errno));
}

output_file::~output_file() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!published_) unlink(temporary_.c_str());
}

int64_t output_file::publish(const std::string& path, bool sync) {
    for (const auto& [address, bytes] : metadata_) put(address, bytes);
    throw_if_failed();
    const auto attempt = [this](const char* doing, int status) {
        if (status != 0) throw error(system_failure(temporary_ + ": " + doing, errno));
    };
    attempt("cannot set the size", ftruncate(descriptor_, static_cast<off_t>(size_)));
    // Where the file system knows no such thing, writing will tell.
    if (reserve_ && fallocate(descriptor_, 0, 0, static_cast<off_t>(size_)) != 0 && errno != EOPNOTSUPP)
        attempt("cannot reserve its room", -1);
    if (sync) attempt("cannot sync", fsync(descriptor_));
    // Network file systems report a full disk or a used-up quota here.
    attempt("cannot close", close(std::exchange(descriptor_, -1)));
    if (rename(temporary_.c_str(), path.c_str()) != 0) {
        throw error(system_failure(path + ": cannot rename " + temporary_ + " to it", errno));
    }
    published_ = true;
    if (sync) {
        if (auto synced = sync_directory(folder_of(path)); !synced) throw error(synced.why());
    }
    return static_cast<int64_t>(size_);
}

void output_file::begin_again() {
    if (ftruncate(descriptor_, 0) != 0) throw error(system_failure(temporary_ + ": cannot empty", errno));
    failed_ = false;
    first_ = {};
    size_ = written_end_ = unsynced_begin_ = unsynced_end_ = 0;
    metadata_.clear();
    data_.clear();
    held_.clear();
    awaited_ = {};
}

void output_file::throw_if_failed() const {
    if (failed_) throw error(first_);
}

void output_file::write_data(uint64_t address, std::span<const std::byte> bytes) noexcept {
    const bool later = bytes.data() == awaited_.data() && bytes.size() == awaited_.size();
    try {
        // Space that metadata gave back may be used for data: the bytes kept for it are void.
        if (!metadata_.empty()) forget(address, address + bytes.size());
        data_.push_back({address, bytes.size()});
        if (later) held_.push_back({address, bytes});
    } catch (const std::bad_alloc&) {
        fail("keep", address, bytes.size(), ENOMEM);
    }
    if (later)
        awaited_ = {};
    else
        put(address, bytes);
    written_end_ = std::max(written_end_, address + bytes.size());
}

void output_file::put_held() noexcept {
    for (const held_bytes& held : held_) put(held.address, held.bytes);
    held_.clear();
}

void output_file::write_metadata(uint64_t address, std::span<const std::byte> bytes) noexcept {
    written_end_ = std::max(written_end_, address + bytes.size());
    try {
        auto piece = metadata_.upper_bound(address);
        if (piece != metadata_.begin()) {
            const auto before = std::prev(piece);
            piece = before->first + before->second.size() >= address ? before : metadata_.emplace(address, 0).first;
        } else {
            piece = metadata_.emplace(address, 0).first;
        }
        std::vector<std::byte>& kept = piece->second;
        const uint64_t begin = piece->first;
        if (begin + kept.size() < address + bytes.size()) kept.resize(address + bytes.size() - begin);
        for (auto next = std::next(piece); next != metadata_.end() && next->first <= begin + kept.size();) {
            const uint64_t at = next->first - begin;
            if (kept.size() < at + next->second.size()) kept.resize(at + next->second.size());
            std::copy(next->second.begin(), next->second.end(), kept.begin() + static_cast<ptrdiff_t>(at));
            next = metadata_.erase(next);
        }
        std::copy(bytes.begin(), bytes.end(), kept.begin() + static_cast<ptrdiff_t>(address - begin));
    } catch (const std::bad_alloc&) {
        fail("keep", address, bytes.size(), ENOMEM);
    }
}

void output_file::read(uint64_t address, std::span<std::byte> bytes) noexcept {
    const uint64_t end = address + bytes.size();
    auto piece = metadata_.upper_bound(address);
    if (piece != metadata_.begin()) --piece;
    const bool whole =
        piece != metadata_.end() && piece->first <= address && piece->first + piece->second.size() >= end;
    if (!whole) {
        size_t done = 0;
        while (done < bytes.size()) {
            const ssize_t n =
                pread(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(address + done));
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) fail("read", address, bytes.size(), errno);
            if (n <= 0) break;
            done += static_cast<size_t>(n);
        }
        std::fill(bytes.begin() + static_cast<ptrdiff_t>(done), bytes.end(), std::byte{0});
    }
    for (; piece != metadata_.end() && piece->first < end; ++piece) {
        const uint64_t from = std::max(piece->first, address);
        const uint64_t to = std::min(piece->first + piece->second.size(), end);
        if (from < to)
            std::memcpy(bytes.data() + (from - address), piece->second.data() + (from - piece->first), to - from);
    }
}

void output_file::fail(const char* doing, uint64_t address, size_t bytes, int saved_errno) noexcept {
    if (failed_) return;
    failed_ = true;
    try {
        first_ = system_failure(temporary_ + ": cannot " + doing + " " + std::to_string(bytes) + " bytes at offset " +
                                    std::to_string(address),
                                saved_errno);
    } catch (const std::bad_alloc&) {
        first_ = failure{error_kind::system, {}, saved_errno};
    }
}

void output_file::put(uint64_t address, std::span<const std::byte> bytes) noexcept {
    if (failed_) return;
    size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t n =
            pwrite(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(address + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return fail("write", address, bytes.size(), n < 0 ? errno : EIO);
        done += static_cast<size_t>(n);
    }
    if (early_) write_back(address, address + bytes.size());
}

/// Data mostly comes in order of addresses, so that one range grows until it is worth a call.
void output_file::write_back(uint64_t begin, uint64_t end) noexcept {
    constexpr uint64_t worth_a_call = uint64_t{1} << 20;
    if (begin < unsynced_begin_ || begin > unsynced_end_ + worth_a_call) unsynced_begin_ = begin;
    unsynced_end_ = end;
    if (unsynced_end_ - unsynced_begin_ < worth_a_call) return;
    // A hint; errors show up at fsync.
    sync_file_range(descriptor_, static_cast<off_t>(unsynced_begin_),
                    static_cast<off_t>(unsynced_end_ - unsynced_begin_), SYNC_FILE_RANGE_WRITE);
    unsynced_begin_ = unsynced_end_;
}

void output_file::forget(uint64_t address, uint64_t end) {
    auto piece = metadata_.upper_bound(address);
    if (piece != metadata_.begin()) --piece;
    while (piece != metadata_.end() && piece->first < end) {
        const uint64_t begin = piece->first;
        const uint64_t piece_end = begin + piece->second.size();
        if (piece_end <= address) {
            ++piece;
            continue;
        }
        const std::vector<std::byte> old = std::move(piece->second);
        piece = metadata_.erase(piece);
        if (begin < address) {
            metadata_.emplace(
                begin, std::vector<std::byte>(old.begin(), old.begin() + static_cast<ptrdiff_t>(address - begin)));
        }
        if (piece_end > end) {
            metadata_.emplace(end,
                              std::vector<std::byte>(old.begin() + static_cast<ptrdiff_t>(end - begin), old.end()));
            break;
        }
    }
}

}  // namespace halcyon::offload::hdf5
