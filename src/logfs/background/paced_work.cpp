#include "logfs/background/paced_work.hpp"

#include <cstdint>
#include <utility>

#include "logfs/container/reading/reader.hpp"

namespace halcyon::logfs {
namespace {

std::string folder_of(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

}  // namespace

result<flatten_report> flatten_paced(container& from, const std::string& target, flatten_options how, pace& by) {
    int64_t size = 0;
    {
        reader written(from);
        if (auto read = written.reload(); !read) return read.why();
        size = written.size();
    }
    by.begin(folder_of(target), size);
    how.before_write = [&by](int64_t bytes) { by.next(bytes); };
    auto done = flatten(from, target, how);
    by.end();
    return done;
}

result<bring_report> bring_paced(container& into, bring_options how, pace& by) {
    how.on_begin = [&by, told = std::move(how.on_begin)](int64_t bytes, const std::string& directory) {
        by.end();
        by.begin(directory, bytes);
        if (told) told(bytes, directory);
    };
    how.before_write = [&by](int64_t bytes) { by.next(bytes); };
    auto done = bring(into, how);
    by.end();
    return done;
}

}  // namespace halcyon::logfs
