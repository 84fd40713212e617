#include "offload/model/describe.hpp"

#include "base/text_file.hpp"
#include "base/units.hpp"
#include "offload/model/model.hpp"

namespace halcyon::offload {
namespace {

std::string counted(size_t n, const std::string& noun) {
    return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

/// Bytes of one iteration of the whole run.
result<int64_t> bytes_of_iteration(const model& m, int ranks) {
    int64_t total = 0;
    for (int rank = 0; rank < ranks; ++rank) {
        for (const variable& v : m.variables) {
            for (int block = 0; block < v.blocks_per_client; ++block) {
                const auto shape = shape_of(m, v, {rank, ranks, block});
                if (!shape) return shape.why();
                if (__builtin_add_overflow(total, shape->bytes, &total)) {
                    return failure{error_kind::config, "one iteration has more than 2^63 bytes", 0};
                }
            }
        }
    }
    return total;
}

}  // namespace

result<std::string> describe_configuration(const std::string& path, int ranks) {
    const auto text = read_text_file(path);
    if (!text) return text.why();
    const auto m = parse_model(*text, path, {});
    if (!m) return m.why();
    std::string line = m->simulation + ": " + counted(m->parameters.size(), "parameter") + ", " +
                       counted(m->layouts.size(), "layout") + ", " + counted(m->variables.size(), "variable") + ", " +
                       counted(m->events.size(), "event") + ", " + counted(m->stores.size(), "store");
    if (ranks > 0) {
        const auto bytes = bytes_of_iteration(*m, ranks);
        if (!bytes) return bytes.why();
        line += "; " + format_bytes(*bytes) + " per iteration of " + counted(static_cast<size_t>(ranks), "rank");
    }
    return line;
}

}  // namespace halcyon::offload
