#include "logfs/api/opening_of.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "base/sized_struct.hpp"
#include "logfs/container/directory/node_folder.hpp"

namespace halcyon::logfs {
namespace {

failure refused(std::string why) {
    return {error_kind::usage, "halcyon_logfs_open: " + std::move(why), EINVAL};
}

result<void> take_mode(unsigned mode, opening& how) {
    constexpr unsigned all = HALCYON_LOGFS_READ | HALCYON_LOGFS_WRITE | HALCYON_LOGFS_CREATE | HALCYON_LOGFS_EXCLUSIVE |
                             HALCYON_LOGFS_TRUNCATE;
    const auto has = [mode](halcyon_logfs_mode one) { return (mode & one) != 0; };
    if ((mode & ~all) != 0)
        return refused("mode is " + std::to_string(mode) + "; expected values of halcyon_logfs_mode, joined by |");
    how.may_read = has(HALCYON_LOGFS_READ);
    how.may_write = has(HALCYON_LOGFS_WRITE);
    how.creates = has(HALCYON_LOGFS_CREATE);
    how.is_exclusive = has(HALCYON_LOGFS_EXCLUSIVE);
    how.truncates = has(HALCYON_LOGFS_TRUNCATE);
    if (!how.may_read && !how.may_write) return refused("mode has neither HALCYON_LOGFS_READ nor HALCYON_LOGFS_WRITE");
    if (!how.may_write && (how.creates || how.truncates))
        return refused("HALCYON_LOGFS_CREATE and HALCYON_LOGFS_TRUNCATE need HALCYON_LOGFS_WRITE");
    if (how.is_exclusive && !how.creates) return refused("HALCYON_LOGFS_EXCLUSIVE needs HALCYON_LOGFS_CREATE");
    return {};
}

/// A list apart by colons.
result<void> expect_absolute(const char* member, std::string_view directories) {
    for (std::string_view rest = directories;;) {
        const size_t colon = rest.find(':');
        if (!rest.starts_with('/'))
            return refused(std::string(member) + " is '" + std::string(directories) + "'; expected absolute paths");
        if (colon == std::string_view::npos) return {};
        rest.remove_prefix(colon + 1);
    }
}

std::string_view text_of(const char* given) {
    return given == nullptr ? std::string_view() : std::string_view(given);
}

result<void> expect_sound(const halcyon_logfs_options& given) {
    if (given.has_rank != 0 && given.rank < 0)
        return refused("rank is " + std::to_string(given.rank) + "; expected a number from 0 on");
    if (given.clock_bound_ns < 0)
        return refused("clock_bound_ns is " + std::to_string(given.clock_bound_ns) +
                       "; expected a number from 0 (what the kernel believes) on");
    constexpr uint32_t all_permissions = 07777;
    if (given.permissions > all_permissions)
        return refused("permissions is " + std::to_string(given.permissions) + "; expected 4095 (07777) or less");
    if (given.node_log != 0 && given.data_checks != 0) return refused("node_log does not go with data_checks");
    if (given.node_log != 0 && given.stage != nullptr) return refused("node_log does not go with a stage");
    if (given.stage != nullptr)
        if (auto sound = expect_absolute("stage", given.stage); !sound) return sound;
    if (given.backends != nullptr)
        if (auto sound = expect_absolute("backends", given.backends); !sound) return sound;
    return {};
}

}  // namespace

result<asked_opening> opening_of(unsigned mode, const halcyon_logfs_options* options) {
    halcyon_logfs_options given{};
    if (options != nullptr) {
        if (auto sized = check_size("halcyon_logfs_open", "halcyon_logfs_options", *options,
                                    offsetof(halcyon_logfs_options, has_rank));
            !sized)
            return sized.why();
        std::memcpy(&given, options, std::min<size_t>(options->size_bytes, sizeof given));
    }
    asked_opening asked;
    if (auto taken = take_mode(mode, asked.how); !taken) return taken.why();
    if (auto sound = expect_sound(given); !sound) return sound.why();
    asked.how.says_open = true;
    constexpr mode_t usual = 0666;
    asked.how.mode = given.permissions == 0 ? usual : given.permissions;
    asked.how.backends = text_of(given.backends);
    asked.how.writing.stage = text_of(given.stage);
    asked.how.writing.has_data_checks = given.data_checks != 0;
    asked.how.writing.shares_with_node = given.node_log != 0;
    asked.how.reading.verifies_data = given.verify != 0;
    asked.how.index_folder = wished_node_folder();
    asked.who = writer_identity::of_this_process();
    asked.who.group = given.group;
    if (given.has_rank != 0) asked.who.rank = given.rank;
    if (given.clock_bound_ns > 0) asked.who.clock_bound_ns = given.clock_bound_ns;
    return asked;
}

}  // namespace halcyon::logfs
