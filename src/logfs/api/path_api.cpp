// logfs.h: what is done with paths.
#include <cerrno>
#include <cstddef>
#include <string>

#include "base/sized_struct.hpp"
#include "halcyon/logfs.h"
#include "logfs/api/opening_of.hpp"
#include "logfs/api/reported.hpp"
#include "logfs/api/status_of.hpp"
#include "logfs/container/directory/container.hpp"
#include "logfs/container/log_file.hpp"
#include "logfs/container/tools/flatten.hpp"
#include "logfs/container/tools/remove.hpp"
#include "logfs/container/tools/rename.hpp"
#include "logfs/direct/files_of_process.hpp"

using halcyon::error_kind;
using halcyon::failure;
using halcyon::result;
using halcyon::logfs::container;
using halcyon::logfs::files_of_process;
using halcyon::logfs::api::all_given;
using halcyon::logfs::api::reported;

extern "C" {

int halcyon_logfs_is_container(const char* path, int* is) {
    return reported([&]() -> result<void> {
        if (auto given = all_given("halcyon_logfs_is_container", {{"path", path}, {"is", is}}); !given) return given;
        *is = container::is_at(files_of_process(), path) ? 1 : 0;
        return {};
    });
}

int halcyon_logfs_status_of(const char* path, halcyon_logfs_status_t* status) {
    return reported([&]() -> result<void> {
        constexpr const char* call = "halcyon_logfs_status_of";
        if (auto given = all_given(call, {{"path", path}, {"status", status}}); !given) return given;
        auto asked = halcyon::logfs::opening_of(HALCYON_LOGFS_READ, nullptr);
        if (!asked) return asked.why();
        asked->how.says_open = false;
        halcyon::logfs::log_file file(files_of_process());
        if (auto opened = file.open(path, asked->who, asked->how); !opened) return opened;
        return halcyon::logfs::api::give_status(call, file, *status);
    });
}

int halcyon_logfs_flatten(const char* path, const char* target, unsigned how, halcyon_logfs_flattened_t* made) {
    return reported([&]() -> result<void> {
        constexpr const char* call = "halcyon_logfs_flatten";
        constexpr size_t own_bytes = offsetof(halcyon_logfs_flattened_t, bytes);
        if (auto given = all_given(call, {{"path", path}}); !given) return given;
        if (made != nullptr)
            if (auto sized = halcyon::check_size(call, "halcyon_logfs_flattened_t", *made, own_bytes); !sized)
                return sized;
        constexpr unsigned all = HALCYON_LOGFS_IGNORE_WRITERS | HALCYON_LOGFS_NO_VERIFY;
        if ((how & ~all) != 0)
            return failure{error_kind::usage,
                           std::string(call) + ": how is " + std::to_string(how) +
                               "; expected values of halcyon_logfs_flattening, joined by |, or 0",
                           EINVAL};
        halcyon::logfs::flatten_options wanted;
        wanted.ignores_writers = (how & HALCYON_LOGFS_IGNORE_WRITERS) != 0;
        wanted.verifies_data = (how & HALCYON_LOGFS_NO_VERIFY) == 0;
        container from(files_of_process());
        if (auto opened = from.open(path); !opened) return opened;
        if (target == nullptr)
            if (auto own = expect_own_name(from); !own) return own;
        const auto done = halcyon::logfs::flatten(from, target == nullptr ? path : target, wanted);
        if (!done) return done.why();
        if (made == nullptr) return {};
        halcyon_logfs_flattened_t filled{};
        filled.bytes = done->size;
        filled.written_bytes = done->written_bytes;
        filled.conflict_bytes = done->conflict_bytes;
        halcyon::give(filled, *made, own_bytes);
        return {};
    });
}

int halcyon_logfs_remove(const char* path) {
    return reported([&]() -> result<void> {
        if (auto given = all_given("halcyon_logfs_remove", {{"path", path}}); !given) return given;
        return halcyon::logfs::remove_container(path, files_of_process());
    });
}

int halcyon_logfs_rename(const char* from, const char* to) {
    return reported([&]() -> result<void> {
        if (auto given = all_given("halcyon_logfs_rename", {{"from", from}, {"to", to}}); !given) return given;
        return halcyon::logfs::rename_container(from, to, files_of_process());
    });
}
}
