#include "logfs/container/directory/replacement.hpp"

#include <stdio.h>

#include <cerrno>
#include <charconv>

#include "base/clock.hpp"
#include "logfs/container/directory/rare_number.hpp"
#include "logfs/container/format/dropping_name.hpp"

namespace halcyon::logfs {

int64_t replaced_at_ns(std::string_view name) {
    if (!name.starts_with(replaced_prefix)) return 0;
    name.remove_prefix(replaced_prefix.size());
    int64_t ns = 0;
    std::from_chars(name.data(), name.data() + name.size(), ns);
    return ns;
}

int replacement::make() {
    aside_.clear();
    replaced_ = from_;
    const int done = rename(from_, to_, RENAME_EXCHANGE);
    return done == -EINVAL || done == -ENOSYS ? put_aside() : done;
}

int replacement::put_aside() {
    const std::string_view to(to_.name);
    const std::string_view folder = to.substr(0, to.rfind('/') + 1);
    const short_name name =
        short_name(replaced_prefix).add(static_cast<uint64_t>(realtime_ns())).add("-").add(rare_number(this));
    if (!aside_.append({folder.data(), folder.size()}) || !aside_.append({name.c_str(), name.view().size() + 1}))
        return -ENOMEM;
    replaced_ = {to_.directory, aside_.data()};
    int done = rename(to_, replaced_);
    if (done != 0) return done;
    done = rename(from_, to_);
    if (done != 0) rename(replaced_, to_);
    return done;
}

bool replacement::undo() {
    if (is_exchange()) return rename(from_, to_, RENAME_EXCHANGE) == 0;
    struct stat there {};
    return calls_.status_at(replaced_.directory, replaced_.name, there) == 0 && rename(to_, from_) == 0 &&
           rename(replaced_, to_) == 0;
}

}  // namespace halcyon::logfs
