#include "logfs/backend/direct_files.hpp"

#include <cerrno>
#include <cstddef>
#include <new>

#include "calls/backends/hidden_descriptors.hpp"
#include "calls/backends/report_below.hpp"
#include "logfs/backend/reported_files.hpp"
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
    // Not static objects: a destructor would run while streams still wait to be written.
    alignas(hidden_file_calls) static std::byte room[sizeof(hidden_file_calls)];
    static file_calls* const made = new (room) hidden_file_calls;
    alignas(reported_files) static std::byte room_of_reports[sizeof(reported_files)];
    static file_calls* const reporting = new (room_of_reports) reported_files(*made);
    return calls::are_calls_below_wanted() ? *reporting : *made;
}

}  // namespace halcyon::logfs
