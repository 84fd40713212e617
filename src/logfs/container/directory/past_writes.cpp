#include "logfs/container/directory/past_writes.hpp"

#include <sys/stat.h>

#include "logfs/container/format/dropping_name.hpp"

namespace halcyon::logfs {

int64_t past_writes(const container& in) {
    struct stat found {};
    return in.calls().status_at(in.directory(), descriptor_name.data(), found) == 0 ? int64_t{found.st_size} : 0;
}

result<void> expect_no_past_writes(const container& in) {
    if (past_writes(in) == 0) return {};
    return in.damaged(descriptor_name,
                      "a program that Halcyon does not see wrote to a descriptor of the file: where in the file its "
                      "bytes belong, nobody knows; 'halcyon log repair' puts them aside");
}

}  // namespace halcyon::logfs
