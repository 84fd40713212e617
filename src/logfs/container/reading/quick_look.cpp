#include "logfs/container/reading/quick_look.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <string_view>

#include "logfs/container/directory/names_in.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/whole_transfer.hpp"
#include "logfs/container/format/dropping_name.hpp"
#include "logfs/container/format/format.hpp"
#include "logfs/container/format/record_coding.hpp"
#include "logfs/container/reading/head_reader.hpp"

namespace halcyon::logfs {
namespace {

using block = std::array<std::byte, block_bytes>;

/// The last state of a writer that has ended, or that runs on this host or did since it was started: no crash of the
/// node lies behind it. False: of another one, or there is damage.
bool take_state(const head_reader& head, uint64_t salt, std::string_view boot_id, state_slot& out) {
    index_header header{};
    if (head.check_header(0, header) || header.salt != salt) return false;
    const bool is_of_this_boot =
        !boot_id.empty() && boot_id == std::string_view(header.boot_id, strnlen(header.boot_id, boot_id_room));
    const auto states = head.states(salt);
    out = states.newer;
    const bool are_both_there = states.bad_at == 0 && (states.older.sequence > 0 || is_of_this_boot);
    return are_both_there && out.sequence > 0 && (is_of_this_boot || out.is_closed != 0);
}

/// When the last of the records was written; false: damage.
bool take_latest(const block& last, const state_slot& state, uint64_t salt, int64_t& latest_ns) {
    block_header header{};
    std::memcpy(&header, last.data(), sizeof header);
    if (header.number != state.end.block || state.end.used > record_room) return false;
    const std::span<const std::byte> records(last.data() + sizeof header, state.end.used);
    coding_base base = header.base;
    if (crc32c(records, check_of_block(header.number, base, salt)) != state.end.check) return false;
    latest_ns = std::max(latest_ns, base.time_ns);
    for (size_t at = 0; at < records.size();) {
        record each;
        const size_t bytes = decode_record(records.subspan(at), base, each);
        if (bytes == 0) return false;
        latest_ns = std::max(latest_ns, each.what.last_ns);
        at += bytes + record_check_bytes;
    }
    return true;
}

class quick_look {
  public:
    quick_look(const container& of, std::string_view boot_id)
        : of_(of), boot_id_(boot_id), calls_(of.calls()), head_(of.calls()), memory_(of.calls()) {}

    bool look(written_state& out) {
        if (of_.is_plfs()) return false;
        const int listed = names_in(calls_, memory_, of_.directory(), ".", [&](std::string_view name) {
            uint32_t number = 0;
            return parse_host_directory(name, number) && !look_into(name) ? -1 : 0;
        });
        if (listed != 0 || (has_cuts_ && writers_ > 1)) return false;
        out = written_;
        return true;
    }

  private:
    bool look_into(std::string_view host_directory) {
        int64_t indexes = 0;
        int64_t data = 0;
        const short_name folder(host_directory);
        const int listed = names_in(calls_, memory_, of_.directory(), folder.c_str(), [&](std::string_view name) {
            dropping_name of;
            if (!parse_dropping_name(name, of)) return 0;
            ++(of.kind == dropping_kind::index ? indexes : data);
            if (of.kind != dropping_kind::index) return 0;
            const short_name path = short_name(host_directory).add("/").add(name);
            return add_writer(path.c_str(), salt_of(of.created_ns, of.pid)) ? 0 : -1;
        });
        return listed == 0 && indexes == data;
    }

    bool add_writer(const char* path, uint64_t salt) {
        const int fd = calls_.open_at(of_.directory(), path, O_RDONLY, 0);
        if (fd < 0) return false;
        state_slot state;
        const bool is_sound = head_.read(fd, salt, false) == 1 && take_state(head_, salt, boot_id_, state) &&
                              read_block(fd, block_at(state.end.block)) &&
                              take_latest(block_, state, salt, written_.latest_ns);
        calls_.close(fd);
        if (!is_sound) return false;
        ++writers_;
        has_cuts_ = has_cuts_ || state.cuts > 0;
        written_.bytes = std::max(written_.bytes, state.logical_end);
        // Runs for which there was no room among the records.
        if (state.runs > 0) written_.latest_ns = std::max(written_.latest_ns, state.pattern.last_ns);
        if (state.runs > 1) written_.latest_ns = std::max(written_.latest_ns, state.element.last_ns);
        return true;
    }

    /// The file may end within it.
    bool read_block(int fd, int64_t at) {
        block_ = {};
        return read_whole(calls_, fd, block_, at) >= static_cast<int64_t>(sizeof(block_header));
    }

    const container& of_;
    const std::string_view boot_id_;
    file_calls& calls_;
    head_reader head_;
    memory_source memory_;
    written_state written_;
    int64_t writers_ = 0;
    bool has_cuts_ = false;
    alignas(8) block block_{};
};

}  // namespace

bool look_quickly(const container& of, std::string_view boot_id, written_state& out) {
    // In pages: stacks may be small.
    void* const room = of.calls().take_pages(sizeof(quick_look));
    if (room == nullptr) return false;
    auto* const here = new (room) quick_look(of, boot_id);
    const bool is_done = here->look(out);
    here->~quick_look();
    of.calls().return_pages(room, sizeof(quick_look));
    return is_done;
}

}  // namespace halcyon::logfs
