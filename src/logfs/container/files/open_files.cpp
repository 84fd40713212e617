#include "logfs/container/files/open_files.hpp"

#include <fcntl.h>

#include <bit>
#include <cerrno>
#include <cstring>

namespace halcyon::logfs {

/// Where its number is, or would be.
size_t open_files::place_of(uint64_t key) const {
    const size_t mask = places_.size() - 1;
    size_t place = (key * 0x9E3779B97F4A7C15u >> 32) & mask;
    while (places_[place] != 0 && files_[places_[place] - 1].key != key) place = (place + 1) & mask;
    return place;
}

int open_files::get(uint64_t key, int directory, const char* name) {
    if (places_.empty()) {
        const size_t room = std::bit_ceil(size_t{most_} * 2 + 2);
        if (!places_.resize(room) || !files_.reserve(most_)) return -ENOMEM;
        std::memset(places_.data(), 0, room * sizeof(uint32_t));
    }
    if (const int open = find(key); open >= 0) return open;
    if (files_.size() == most_) close_oldest();
    int fd = calls_.open_at(directory, name, O_RDONLY | O_NOFOLLOW, 0);
    // Others of the process need descriptors, too.
    while ((fd == -EMFILE || fd == -ENFILE) && !files_.empty()) {
        close_oldest();
        fd = calls_.open_at(directory, name, O_RDONLY | O_NOFOLLOW, 0);
    }
    if (fd < 0) return fd;
    ++opened_;
    if (!files_.push({key, fd, none, none})) {
        calls_.close(fd);
        return -ENOMEM;
    }
    const auto number = static_cast<uint32_t>(files_.size() - 1);
    places_[place_of(key)] = number + 1;
    use(number);
    return fd;
}

int open_files::find(uint64_t key) {
    const uint32_t found = places_.empty() ? 0 : places_[place_of(key)];
    if (found == 0) return -1;
    if (found - 1 != newest_) {
        unlink(found - 1);
        use(found - 1);
    }
    return files_[found - 1].fd;
}

void open_files::use(uint32_t number) {
    files_[number].newer = none;
    files_[number].older = newest_;
    if (newest_ != none) files_[newest_].newer = number;
    newest_ = number;
    if (oldest_ == none) oldest_ = number;
}

void open_files::unlink(uint32_t number) {
    const file& of = files_[number];
    (of.newer != none ? files_[of.newer].older : newest_) = of.older;
    (of.older != none ? files_[of.older].newer : oldest_) = of.newer;
}

/// The last one takes its number.
void open_files::forget(uint32_t number) {
    unlink(number);
    // Whatever stands behind it in the table may be there only because its own place was taken.
    const size_t mask = places_.size() - 1;
    size_t place = place_of(files_[number].key);
    places_[place] = 0;
    for (size_t next = (place + 1) & mask; places_[next] != 0; next = (next + 1) & mask) {
        const uint32_t moved = places_[next];
        places_[next] = 0;
        places_[place_of(files_[moved - 1].key)] = moved;
    }
    const auto last = static_cast<uint32_t>(files_.size() - 1);
    if (number != last) {
        places_[place_of(files_[last].key)] = number + 1;
        files_[number] = files_[last];
        const file& of = files_[number];
        (of.newer != none ? files_[of.newer].older : newest_) = number;
        (of.older != none ? files_[of.older].newer : oldest_) = number;
    }
    files_.pop();
}

int open_files::close_oldest() {
    const int done = calls_.close(files_[oldest_].fd);
    forget(oldest_);
    return done;
}

void open_files::close(uint64_t key) {
    if (places_.empty()) return;
    const uint32_t found = places_[place_of(key)];
    if (found == 0) return;
    calls_.close(files_[found - 1].fd);
    forget(found - 1);
}

void open_files::close_all() {
    while (!files_.empty()) close_oldest();
}

}  // namespace halcyon::logfs
