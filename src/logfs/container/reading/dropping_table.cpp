#include "logfs/container/reading/dropping_table.hpp"

#include <algorithm>
#include <iterator>

#include "logfs/container/format/plfs_format.hpp"
#include "logfs/container/format/record_coding.hpp"

namespace halcyon::logfs {
namespace {

struct saved_dropping {
    uint64_t clock;  // the hash of host and boot
    int64_t pid;
    int64_t created_ns;
    int64_t clock_bound_ns;
    uint64_t group;
    uint64_t salt;
    uint64_t state_sequence;
    int64_t data_bytes;
    int64_t logical_end;
    uint64_t writes;
    uint64_t written_bytes;
    int64_t committed_bytes;
    coding_base base;
    run live[2];
    stream_place at;
    stream_place committed;
    int32_t rank;
    uint32_t cuts;
    uint32_t live_runs;
    uint16_t name_bytes;
    uint8_t has_header;
    uint8_t has_checks;
    uint8_t is_closed;
    uint8_t is_gone;
    uint8_t reserved[6];
};
static_assert(has_copied_layout<saved_dropping, 328, 8>());

/// The name of an index dropping, and of nothing that lies elsewhere.
bool is_index_path(std::string_view path) {
    const size_t slash = path.find('/');
    uint32_t number = 0;
    dropping_name parsed;
    return slash != std::string_view::npos && parse_host_directory(path.substr(0, slash), number) &&
           path.find('/', slash + 1) == std::string_view::npos && parse_dropping_name(path.substr(slash + 1), parsed) &&
           parsed.kind == dropping_kind::index;
}

bool is_sound(const saved_dropping& what) {
    const bool are_flags = what.has_header <= 1 && what.has_checks <= 1 && what.is_closed <= 1 && what.is_gone <= 1;
    if (!are_flags || what.live_runs > 2 || what.at.used > record_room || what.clock_bound_ns < 0) return false;
    if (what.data_bytes < 0 || what.committed_bytes < 0) return false;
    return std::all_of(what.live, what.live + what.live_runs, [](const run& each) { return logfs::is_sound(each); });
}

}  // namespace

uint32_t dropping_table::add(std::string_view name) {
    dropping fresh;
    fresh.name_at = static_cast<uint32_t>(names_.size());
    // Until its header is read.
    if (dropping_name parsed; parse_dropping_name(name.substr(name.rfind('/') + 1), parsed)) {
        fresh.pid = parsed.pid;
        fresh.created_ns = parsed.created_ns;
        fresh.salt = salt_of(parsed.created_ns, parsed.pid);
    }
    if (!names_.reserve(names_.size() + name.size() + 1) || !list_.reserve(list_.size() + 1)) return none;
    if (!by_name_.add(hash_of(name))) return none;
    const bool is_kept = names_.append({name.data(), name.size()}) && names_.push('\0') && list_.push(fresh);
    return is_kept ? static_cast<uint32_t>(list_.size() - 1) : none;
}

uint32_t dropping_table::find(std::string_view name) const {
    return by_name_.find(hash_of(name), [&](uint32_t number) { return name == name_of(number); });
}

short_name dropping_table::data_name_of(uint32_t number) const {
    const std::string_view name = name_of(number);
    return is_plfs_data_path(name) ? short_name(name) : with_kind(name, dropping_kind::data);
}

bool dropping_table::note_clock(dropping& of, std::string_view host, std::string_view boot_id) {
    // Without a boot id two hosts of one name cannot be told from each other: their clocks are as good as different.
    const uint64_t other = boot_id.empty() ? static_cast<uint64_t>(of.created_ns) * 2 + 1 : hash_of(boot_id);
    return note_clock_of(of, hash_of(host) * 31 + other);
}

bool dropping_table::note_clock_of(dropping& of, uint64_t hash) {
    of.clock = by_clock_.find(hash, [&](uint32_t number) { return clocks_[number] == hash; });
    if (of.clock != hashed_numbers::none) return true;
    if (!clocks_.reserve(clocks_.size() + 1) || !by_clock_.add(hash)) return false;
    of.clock = static_cast<uint32_t>(clocks_.size());
    return clocks_.push(hash);
}

/// Each writer of a group says the same again.
bool dropping_table::note_epoch(uint64_t group, int64_t time_ns) {
    constexpr size_t few = 1024;
    if (group == 0) return true;
    if (epochs_.size() >= 2 * settled_epochs_ + few) settle_epochs();
    return epochs_.push({group, time_ns});
}

void dropping_table::settle_epochs() {
    if (settled_epochs_ == epochs_.size()) return;
    std::sort(epochs_.begin(), epochs_.end());
    epochs_.cut(static_cast<size_t>(std::unique(epochs_.begin(), epochs_.end()) - epochs_.begin()));
    settled_epochs_ = epochs_.size();
}

size_t dropping_table::epochs_before(uint64_t group, int64_t time_ns) const {
    return static_cast<size_t>(std::lower_bound(epochs_.begin(), epochs_.end(), epoch{group, time_ns}) -
                               epochs_.begin());
}

void dropping_table::save(image_writer& to) const {
    to.put(uint64_t{list_.size()});
    for (const dropping& each : list_) {
        const std::string_view name = names_.data() + each.name_at;
        saved_dropping saved{};
        saved.clock = each.has_header ? clocks_[each.clock] : 0;
        saved.pid = each.pid;
        saved.created_ns = each.created_ns;
        saved.clock_bound_ns = each.clock_bound_ns;
        saved.group = each.group;
        saved.salt = each.salt;
        saved.state_sequence = each.state_sequence;
        saved.data_bytes = each.data_bytes;
        saved.logical_end = each.logical_end;
        saved.writes = each.writes;
        saved.written_bytes = each.written_bytes;
        saved.committed_bytes = each.committed_bytes;
        saved.base = each.base;
        std::copy(std::begin(each.live), std::end(each.live), saved.live);
        saved.at = each.at;
        saved.committed = each.committed;
        saved.rank = each.rank;
        saved.cuts = each.cuts;
        saved.live_runs = each.live_runs;
        saved.name_bytes = static_cast<uint16_t>(name.size());
        saved.has_header = each.has_header ? 1 : 0;
        saved.has_checks = each.has_checks ? 1 : 0;
        saved.is_closed = each.is_closed ? 1 : 0;
        saved.is_gone = each.is_gone ? 1 : 0;
        to.put(saved);
        to.put_all(std::span<const char>(name.data(), name.size()));
    }
}

bool dropping_table::load(image_reader& from) {
    uint64_t count = 0;
    if (!from.take(count)) return false;
    for (uint64_t i = 0; i < count; ++i) {
        saved_dropping saved{};
        if (!from.take(saved) || !is_sound(saved)) return false;
        const std::string_view name = from.take_text(saved.name_bytes);
        if (!is_index_path(name) || find(name) != none) return false;
        const uint32_t number = add(name);
        if (number == none) return false;
        dropping& each = list_[number];
        if (saved.has_header != 0 && !note_clock_of(each, saved.clock)) return false;
        each.pid = saved.pid;
        each.created_ns = saved.created_ns;
        each.clock_bound_ns = saved.clock_bound_ns;
        each.group = saved.group;
        each.salt = saved.salt;
        each.state_sequence = saved.state_sequence;
        each.data_bytes = saved.data_bytes;
        each.logical_end = saved.logical_end;
        each.writes = saved.writes;
        each.written_bytes = saved.written_bytes;
        each.committed_bytes = saved.committed_bytes;
        each.base = saved.base;
        std::copy(std::begin(saved.live), std::end(saved.live), each.live);
        each.at = saved.at;
        each.committed = saved.committed;
        each.rank = saved.rank;
        each.cuts = saved.cuts;
        each.live_runs = saved.live_runs;
        each.has_header = saved.has_header != 0;
        each.has_checks = saved.has_checks != 0;
        each.is_closed = saved.is_closed != 0;
        each.is_gone = saved.is_gone != 0;
    }
    return true;
}

/// Their clocks stay: some are of this process.
void dropping_table::release() {
    list_.release();
    names_.release();
    by_name_.release();
    epochs_.release();
    settled_epochs_ = 0;
}

/// The higher rank, the younger writer; by name where all else is the same, so that every reader sees the same.
bool dropping_table::is_later_of_same_time(uint32_t a, uint32_t b) const {
    const dropping& one = list_[a];
    const dropping& other = list_[b];
    if (one.rank != other.rank) return one.rank > other.rank;
    if (one.created_ns != other.created_ns) return one.created_ns > other.created_ns;
    return std::string_view(name_of(a)) > std::string_view(name_of(b));
}

int64_t dropping_table::clock_doubt_ns(uint32_t a, uint32_t b) const {
    if (list_[a].clock == list_[b].clock) return 0;
    return std::min(list_[a].clock_bound_ns, longest_doubt_ns) + std::min(list_[b].clock_bound_ns, longest_doubt_ns);
}

bool dropping_table::has_epoch_between(uint32_t a, int64_t time_a, uint32_t b, int64_t time_b) const {
    const uint64_t group = list_[a].group;
    if (group == 0 || group != list_[b].group) return false;
    return epochs_before(group, time_a) != epochs_before(group, time_b);
}

}  // namespace halcyon::logfs
