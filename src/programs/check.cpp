// halcyon-check FILE [RANKS]: says what a configuration describes, or what is wrong with it (exit status 1). With
// RANKS, every block of every process of a run of that size is evaluated as well.

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/units.hpp"
#include "offload/model/model.hpp"

namespace {

using namespace halcyon;

std::string counted(size_t n, const std::string& noun) {
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

result<std::string> read_file(const std::string& path) {
    if (std::filesystem::is_directory(path)) return system_failure("cannot read '" + path + "'", EISDIR);
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (file) text << file.rdbuf();
    if (!file || file.bad()) return system_failure("cannot read '" + path + "'", errno != 0 ? errno : EIO);
    return text.str();
}

/// Bytes of one iteration of the whole run, with every block of every process evaluated.
result<int64_t> bytes_of_iteration(const offload::model& m, int ranks) {
    int64_t total = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        for (const offload::variable& v : m.variables) {
            for (int block = 0; block < v.blocks_per_client; ++block) {
                const auto shape = offload::shape_of(m, v, {rank, ranks, block});
                if (!shape) return shape.why();
                if (__builtin_add_overflow(total, shape->bytes, &total)) {
                    return failure{error_kind::config, "one iteration has more than 2^63 bytes", 0};
                }
            }
        }
    }
    return total;
}

result<std::string> check(const std::string& path, int ranks) {
    const auto text = read_file(path);
    if (!text) return text.why();
    const auto m = offload::parse_model(*text, path, {});
    if (!m) return m.why();
    std::string summary = "OK: simulation '" + m->simulation + "': " + counted(m->parameters.size(), "parameter") +
                          ", " + counted(m->layouts.size(), "layout") + ", " +
                          counted(m->variables.size(), "variable") + ", " + counted(m->events.size(), "event") + ", " +
                          counted(m->stores.size(), "store");
    if (ranks > 0) {
        const auto bytes = bytes_of_iteration(*m, ranks);
        if (!bytes) return bytes.why();
        summary += "; " + format_bytes(*bytes) + " from " + counted(static_cast<size_t>(ranks), "rank");
    }
    return summary;
}

}  // namespace

int main(int argc, char** argv) {
    int ranks = 0;
    bool understood = argc == 2 || argc == 3;
    if (argc == 3) {
        const std::string_view given = argv[2];
        const auto [end, problem] = std::from_chars(given.data(), given.data() + given.size(), ranks);
        understood = problem == std::errc{} && end == given.data() + given.size() && ranks > 0;
    }
    if (!understood) {
        std::cerr << "usage: halcyon-check FILE [RANKS]\n";
        return 2;
    }
    const auto verdict = check(argv[1], ranks);
    if (!verdict) {
        std::cerr << verdict.why().message << "\n";
        return 1;
    }
    std::cout << *verdict << "\n";
    return 0;
}
