#include "base/replace_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/descriptor.hpp"

namespace halcyon {

namespace {

/// Without it, a power loss may bring the old name back, which is no worse than to lose power a moment earlier: so a
/// file system that cannot do this is no failure.
void sync_folder_of(const std::string& path) {
    const size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    const descriptor open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (open) static_cast<void>(::fsync(open.get()));
}

}  // namespace

result<void> replace_file(const std::string& path, std::string_view text, lasting stored) {
    const std::string beside = path + ".tmp";
    int why = 0;
    {
        descriptor file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
        if (!file) return system_failure(beside, errno);
        for (size_t done = 0; done < text.size() && why == 0;) {
            const ssize_t n = ::write(file.get(), text.data() + done, text.size() - done);
            if (n >= 0)
                done += static_cast<size_t>(n);
            else if (errno != EINTR)
                why = errno;
        }
        if (why == 0 && stored == lasting::yes && ::fsync(file.get()) != 0) why = errno;
        // Over a network, and where there are quotas, only close says that there was no room for the text. Linux frees
        // the descriptor whatever it says.
        if (::close(file.release()) != 0 && why == 0 && errno != EINTR) why = errno;
    }
    if (why == 0 && std::rename(beside.c_str(), path.c_str()) != 0) why = errno;
    if (why == 0 && stored == lasting::yes) sync_folder_of(path);
    if (why == 0) return {};
    ::unlink(beside.c_str());
    return system_failure(path, why);
}

}  // namespace halcyon
