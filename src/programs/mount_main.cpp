// halcyon-mount: shows the containers of a backend as plain files, by FUSE. Started by `halcyon mount`.

#include <charconv>
#include <cstdio>
#include <exception>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/closest_name.hpp"
#include "logfs/mount/mount_point.hpp"
#include "logfs/mount/session.hpp"
#include "logfs/mount/state/mount_options.hpp"

using namespace halcyon;
using namespace halcyon::logfs;

namespace {

constexpr const char* usage =
    "usage: halcyon-mount [OPTION]... BACKEND MOUNTPOINT\n"
    "       halcyon-mount --unmount [--lazy] MOUNTPOINT\n"
    "       halcyon-mount --version\n"
    "\n"
    "Shows the containers below BACKEND as plain files below MOUNTPOINT, until it is unmounted.\n"
    "\n"
    "  --foreground         stays the process that was started, and logs to standard error\n"
    "  --new-files KIND     what a new file becomes: container (default) or plain\n"
    "  --read-only          nothing can be changed\n"
    "  --allow-other        other users may use it: for root, or where fuse.conf says user_allow_other\n"
    "  --xattr              extended attributes, too; each write() is one request more\n"
    "  --data-checks        sums over the data are written, too\n"
    "  --threads N          answer requests, at most (default: 10)\n"
    "  --log-file FILE      for reasons of failures (default: the system's log)\n"
    "  --unmount            ends a mount, also one whose process was killed\n"
    "  --lazy               takes it out of the tree at once, and ends it when the last file is closed\n";

struct command_line {
    mount_options options;
    std::vector<std::string> paths;
    bool unmounts = false;
    bool is_lazy = false;
    bool wants_help = false;
    bool wants_version = false;
};

failure wrong(std::string message) {
    return {error_kind::usage, std::move(message), 0};
}

/// The flag of an option without a value; null: there is none of the name.
bool* flag_of(command_line& into, std::string_view option) {
    if (option == "--foreground") return &into.options.stays_in_foreground;
    if (option == "--read-only") return &into.options.is_read_only;
    if (option == "--allow-other") return &into.options.is_for_all_users;
    if (option == "--xattr") return &into.options.shows_extended_attributes;
    if (option == "--data-checks") return &into.options.has_data_checks;
    if (option == "--unmount") return &into.unmounts;
    if (option == "--lazy") return &into.is_lazy;
    if (option == "--help" || option == "-h") return &into.wants_help;
    if (option == "--version") return &into.wants_version;
    return nullptr;
}

result<void> take_value(command_line& into, std::string_view option, const std::string& value) {
    if (option == "--log-file") {
        into.options.log_file = value;
        return {};
    }
    if (option == "--new-files") {
        if (value != "container" && value != "plain")
            return wrong("--new-files " + printable(value) + ": expected container or plain");
        into.options.new_files_are_containers = value == "container";
        return {};
    }
    constexpr unsigned most_threads = 1024;
    unsigned threads = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), threads);
    if (error != std::errc() || end != value.data() + value.size() || threads < 1 || threads > most_threads)
        return wrong("--threads " + printable(value) + ": expected a number from 1 to 1024");
    into.options.threads = threads;
    return {};
}

failure unknown(std::string_view option) {
    const std::vector<std::string> known{"--foreground", "--new-files",   "--read-only", "--allow-other",
                                         "--xattr",      "--data-checks", "--threads",   "--log-file",
                                         "--unmount",    "--lazy",        "--help",      "--version"};
    const auto near = closest_name(option, known);
    return wrong("unknown option " + printable(option) + (near ? "; did you mean " + *near + "?" : ""));
}

result<command_line> parsed(std::span<const char* const> words) {
    command_line made;
    bool are_paths = false;
    for (size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i];
        if (are_paths || !word.starts_with("-")) {
            made.paths.emplace_back(word);
        } else if (word == "--") {
            are_paths = true;
        } else if (bool* const flag = flag_of(made, word); flag != nullptr) {
            *flag = true;
        } else {
            const size_t equals = word.find('=');
            const std::string_view option = word.substr(0, equals);
            if (option != "--new-files" && option != "--threads" && option != "--log-file") return unknown(option);
            if (equals == word.npos && ++i == words.size()) return wrong(std::string(option) + " needs a value");
            const std::string value(equals == word.npos ? std::string_view(words[i]) : word.substr(equals + 1));
            if (auto taken = take_value(made, option, value); !taken) return taken.why();
        }
    }
    if (made.wants_help || made.wants_version) return made;
    const size_t expected = made.unmounts ? 1 : 2;
    if (made.paths.size() != expected)
        return wrong(std::to_string(made.paths.size()) + " paths are given; expected " +
                     (made.unmounts ? "MOUNTPOINT" : "BACKEND and MOUNTPOINT"));
    if (made.is_lazy && !made.unmounts) return wrong("--lazy makes sense with --unmount only");
    return made;
}

int fail(const failure& why) {
    std::fprintf(stderr, "halcyon-mount: %s\n", why.message.c_str());
    return why.kind == error_kind::usage ? 2 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
    auto given = parsed({argv + 1, static_cast<size_t>(argc - 1)});
    if (!given) {
        const int status = fail(given.why());
        std::fprintf(stderr, "try: halcyon-mount --help\n");
        return status;
    }
    if (given->wants_help) {
        std::cout << usage;
        return 0;
    }
    if (given->wants_version) {
        std::cout << "halcyon-mount " HALCYON_VERSION_TEXT "\n";
        return 0;
    }
    if (given->unmounts) {
        const auto done = unmount(given->paths[0], given->is_lazy ? when_busy::detach : when_busy::fail);
        return done ? 0 : fail(done.why());
    }
    given->options.backend = given->paths[0];
    given->options.mount_point = given->paths[1];
    const auto served = serve(given->options);
    return served ? 0 : fail(served.why());
} catch (const std::exception& e) {
    std::fprintf(stderr, "halcyon-mount: %s\n", e.what());
    return 1;
}
