#include "logfs/backend/direct_files.hpp"

#include <cerrno>
#include <cstddef>
#include <new>

#include "calls/backends/hidden_descriptors.hpp"
#include "logfs/direct/direct_file_calls.hpp"

namespace halcyon::logfs {
namespace {

namespace hidden = calls::hidden_descriptors;

class hidden_file_calls final : public direct_file_calls {
  public:
    int open_at(int directory, const char* name, int flags, mode_t mode) override {
        return hidden::hide(direct_file_calls::open_at(directory, name, flags, mode));
    }
    int close(int fd) override {
        const int done = hidden::close(fd);
        return done == -EINTR ? 0 : done;
    }
};

}  // namespace

file_calls& direct_files() {
    // Not a static object: a destructor would run while streams still wait to be written.
    alignas(hidden_file_calls) static std::byte room[sizeof(hidden_file_calls)];
    static file_calls* const made = new (room) hidden_file_calls;
    return *made;
}

}  // namespace halcyon::logfs
