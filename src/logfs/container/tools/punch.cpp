#include "logfs/container/tools/punch.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "logfs/container/files/whole_transfer.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/reading/held_view.hpp"
#include "logfs/container/reading/reader.hpp"
#include "logfs/container/tools/stats.hpp"

namespace halcyon::logfs {
namespace {

constexpr int64_t block = 4096;

struct range {
    int64_t begin;
    int64_t end;
};

/// Dead blocks of one data dropping.
struct dead_part {
    uint32_t dropping;
    std::vector<range> blocks;
};

class punching {
  public:
    punching(container& what, const punch_options& how) : container_(what), how_(how), synced_(what, reading()) {}
    ~punching() {
        if (marker_ >= 0) container_.calls().close(marker_);
    }
    punching(const punching&) = delete;
    punching& operator=(const punching&) = delete;

    result<punch_report> punch() {
        if (auto ours = container_.expect_ours(); !ours) return ours.why();
        if (auto locked = lock_others_out(); !locked) return locked.why();
        if (auto read = synced_.reload(); !read) return read.why();
        std::vector<dead_part> dead;
        if (auto found = find_dead(dead); !found) return found.why();
        if (dead.empty()) return report_;
        if (auto free = wait_for_no_reader(); !free) return free.why();
        if (report_.is_held) return report_;
        for (const dead_part& each : dead) {
            if (auto done = give_back(each); !done) return done.why();
        }
        return report_;
    }

  private:
    static reader_options reading() {
        reader_options how;
        how.stops_at_commit = true;
        how.verifies_data = true;  // for where the sums are: nothing is read
        return how;
    }

    /// One at a time: a second one would raise the generation under the first.
    result<void> lock_others_out() {
        file_calls& calls = container_.calls();
        const int fd = calls.open_at(container_.directory(), marker_name.data(), O_RDWR, 0);
        if (fd < 0) return container_.failed(marker_name, "cannot open for locking", -fd);
        marker_ = fd;
        const int locked = calls.lock_part(marker_, 0, 1, true, false);
        if (locked == 0) return {};
        if (locked == -EAGAIN)
            return failure{error_kind::unavailable,
                           std::string(container_.path()) + ": another process gives its dead extents back", EAGAIN};
        return container_.failed(marker_name, "cannot lock", -locked);
    }

    /// What nothing of the file reads.
    result<void> find_dead(std::vector<dead_part>& dead) {
        std::vector<std::vector<range>> read(synced_.writers().size());
        auto mapped = map(synced_, 0, synced_.size(), [&](const segment& each) {
            if (!each.is_hole()) note(read[each.dropping], each);
            return true;
        });
        if (!mapped) return mapped;
        for (uint32_t i = 0; i < read.size(); ++i) {
            for (range& each : read[i]) synced_.checks().widen(i, each.begin, each.end);
            // What one writer of a node does not need may be another one's.
            if (is_shared(i)) continue;
            dead_part part{i, dead_blocks(std::move(read[i]), synced_.writers()[i].committed_bytes)};
            report_.dead_bytes += bytes_of(part);
            if (takes_room(part)) dead.push_back(std::move(part));
        }
        return {};
    }

    bool is_shared(uint32_t dropping) {
        struct stat file {};
        const short_name name = synced_.writers().data_name_of(dropping);
        return container_.calls().status_at(container_.directory(), name.c_str(), file) == 0 && file.st_nlink > 1;
    }

    static int64_t bytes_of(const dead_part& part) {
        int64_t bytes = 0;
        for (const range& each : part.blocks) bytes += each.end - each.begin;
        return bytes;
    }

    /// Not where all of it was given back before.
    bool takes_room(const dead_part& part) {
        if (part.blocks.empty()) return false;
        const short_name name = synced_.writers().data_name_of(part.dropping);
        struct stat file {};
        // It was not brought into the container yet.
        if (container_.calls().status_at(container_.directory(), name.c_str(), file) != 0) return false;
        const int64_t live = (file.st_size + block - 1) / block * block - bytes_of(part);
        return int64_t{file.st_blocks} * 512 > live;
    }

    static void note(std::vector<range>& read, const segment& what) {
        if (!read.empty() && read.back().end == what.physical)
            read.back().end += what.length;
        else
            read.push_back({what.physical, what.physical + what.length});
    }

    /// Whole blocks before `end` that none of the ranges touches.
    static std::vector<range> dead_blocks(std::vector<range> read, int64_t end) {
        std::sort(read.begin(), read.end(), [](const range& a, const range& b) { return a.begin < b.begin; });
        read.push_back({end, end});
        std::vector<range> dead;
        int64_t at = 0;
        for (const range& each : read) {
            const int64_t from = (at + block - 1) / block * block;
            const int64_t to = std::min(each.begin, end) / block * block;
            if (from < to) dead.push_back({from, to});
            at = std::max(at, each.end);
        }
        return dead;
    }

    /// Readers take what makes the extents dead from now on. Those that have not done so hold an older generation.
    result<void> wait_for_no_reader() {
        const int64_t generation = read_generation(container_);
        if (generation < 0) return container_.failed(punched_name, "cannot read", static_cast<int>(-generation));
        if (auto raised = raise_generation(generation + 1); !raised) return raised;
        const int64_t first = place_of_generation(0);
        const int64_t bytes = place_of_generation(generation + 1) - first;
        const int locked = container_.calls().lock_part(marker_, first, bytes, true, how_.waits);
        report_.is_held = locked == -EAGAIN;
        if (locked == 0 || report_.is_held) return {};
        return container_.failed(marker_name, "cannot lock", -locked);
    }

    /// It stays for good, and says that bytes under lost records may be gone, too: for check and repair.
    result<void> raise_generation(int64_t to) {
        file_calls& calls = container_.calls();
        const int fd = calls.open_at(container_.directory(), punched_name.data(), O_WRONLY | O_CREAT, 0644);
        if (fd < 0) return container_.failed(punched_name, "cannot create", -fd);
        container_.share(punched_name.data(), 0444);
        int done = write_whole(calls, fd, std::as_bytes(std::span(&to, 1)), 0);
        if (done == 0) done = calls.sync(fd);
        const int closed = calls.close(fd);
        if (done == 0) done = closed;
        return done == 0 ? result<void>() : container_.failed(punched_name, "cannot write", -done);
    }

    result<void> give_back(const dead_part& part) {
        file_calls& calls = container_.calls();
        const short_name name = synced_.writers().data_name_of(part.dropping);
        const int fd = calls.open_at(container_.directory(), name.c_str(), O_WRONLY, 0);
        if (fd < 0) return container_.failed(name.view(), "cannot open", -fd);
        int done = 0;
        for (const range& each : part.blocks) {
            done = calls.punch(fd, each.begin, each.end - each.begin);
            if (done != 0) break;
            report_.punched_bytes += each.end - each.begin;
        }
        calls.close(fd);
        return done == 0 ? result<void>() : container_.failed(name.view(), "cannot give back dead blocks", -done);
    }

    container& container_;
    punch_options how_;
    reader synced_;
    int marker_ = -1;
    punch_report report_;
};

}  // namespace

result<punch_report> punch_dead(container& what, const punch_options& how) {
    return punching(what, how).punch();
}

}  // namespace halcyon::logfs
