#include "logfs/container/tools/punch.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logfs/container/files/page_array.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/reading/reader.hpp"
#include "logfs/container/space/dead_blocks.hpp"
#include "logfs/container/space/giving_back.hpp"

namespace halcyon::logfs {
namespace {

/// Dead blocks of one data dropping.
struct dead_part {
    uint32_t dropping;
    page_array<byte_range> blocks;
};

class punching {
  public:
    punching(container& what, const punch_options& how)
        : container_(what),
          how_(how),
          synced_(what, reading()),
          memory_(what.calls()),
          found_(memory_),
          giving_back_(what) {}
    punching(const punching&) = delete;
    punching& operator=(const punching&) = delete;

    result<punch_report> punch() {
        if (auto ours = container_.expect_ours(); !ours) return ours.why();
        if (auto read = synced_.reload(); !read) return read.why();
        if (auto found = find_dead(); !found) return found.why();
        if (dead_.empty()) return report_;
        if (auto free = wait_for_no_reader(); !free) return free.why();
        if (report_.is_held) return report_;
        for (const dead_part& each : dead_) {
            const short_name name = synced_.writers().data_name_of(each.dropping);
            const int done = giving_back_.punch(name.c_str(), each.blocks.all(), report_.punched_bytes);
            if (done != 0) return refused(name.view(), "cannot give back dead blocks", done);
        }
        giving_back_.note(0);
        return report_;
    }

  private:
    static reader_options reading() {
        reader_options how;
        how.stops_at_commit = true;
        how.verifies_data = true;  // for where the sums are: nothing is read
        return how;
    }

    /// What nothing of the file reads.
    result<void> find_dead() {
        if (auto looked = found_.look(synced_); !looked) return looked;
        for (uint32_t i = 0; i < synced_.writers().size(); ++i) {
            // What one writer of a node does not need may be another one's.
            if (is_shared(i)) continue;
            dead_part part{i, page_array<byte_range>(memory_)};
            if (!found_.find(i, 0, synced_.writers()[i].committed_bytes, part.blocks))
                return container_.failed({}, "cannot look for dead extents", ENOMEM);
            const int64_t bytes = total_bytes(part.blocks.all());
            report_.dead_bytes += bytes;
            if (bytes > 0 && takes_room(i, bytes)) dead_.push_back(std::move(part));
        }
        return {};
    }

    bool is_shared(uint32_t dropping) {
        struct stat file {};
        const short_name name = synced_.writers().data_name_of(dropping);
        return container_.calls().status_at(container_.directory(), name.c_str(), file) == 0 && file.st_nlink > 1;
    }

    /// Not where all of it was given back before.
    bool takes_room(uint32_t dropping, int64_t dead_bytes) {
        const short_name name = synced_.writers().data_name_of(dropping);
        struct stat file {};
        // It was not brought into the container yet.
        if (container_.calls().status_at(container_.directory(), name.c_str(), file) != 0) return false;
        constexpr int64_t block = dead_blocks::block;
        const int64_t live = (file.st_size + block - 1) / block * block - dead_bytes;
        return int64_t{file.st_blocks} * 512 > live;
    }

    result<void> wait_for_no_reader() {
        const int announced = giving_back_.announce();
        if (announced == -EAGAIN)
            return failure{error_kind::unavailable,
                           std::string(container_.path()) + ": another process gives its dead extents back", EAGAIN};
        if (announced != 0) return refused(punched_name, "cannot say that dead extents are given back", announced);
        const int free = giving_back_.wait(how_.waits);
        report_.is_held = free == -EAGAIN;
        if (free == 0 || report_.is_held) return {};
        return refused(marker_name, "cannot lock", free);
    }

    failure refused(std::string_view name, std::string_view what, int why) {
        giving_back_.note(why);
        return container_.failed(name, what, -why);
    }

    container& container_;
    punch_options how_;
    reader synced_;
    memory_source memory_;
    dead_blocks found_;
    giving_back giving_back_;
    std::vector<dead_part> dead_;
    punch_report report_;
};

}  // namespace

result<punch_report> punch_dead(container& what, const punch_options& how) {
    return punching(what, how).punch();
}

}  // namespace halcyon::logfs
