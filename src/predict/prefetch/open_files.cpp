#include "predict/prefetch/open_files.hpp"

#include "calls/state/descriptors.hpp"
#include "calls/state/direct_call.hpp"

namespace halcyon::predict::prefetch {
namespace direct = calls::direct;

namespace {

bool lies_in_memory(int descriptor) {
    constexpr unsigned ramfs = 0x858458F6, hugetlbfs = 0x958458F6;
    struct statfs of {};
    if (direct::fstatfs(descriptor, &of) != 0) return true;
    const auto type = static_cast<unsigned>(of.f_type);
    return type == TMPFS_MAGIC || type == ramfs || type == hugetlbfs;
}

}  // namespace

void open_files::note(uint32_t file, int descriptor) {
    place& of = places_[file % most];
    if (of.file == file && (of.descriptor == descriptor || calls::descriptors::file_of(of.descriptor) == file)) return;
    if (calls::descriptors::file_of(descriptor) != file) return;  // a handler of a signal read another file meanwhile
    struct stat found {};
    if (direct::call(SYS_fstat, descriptor, direct::address(&found)) != 0) return;
    const int flags = direct::flags_of(descriptor);
    const bool reads_ahead =
        S_ISREG(found.st_mode) && flags >= 0 && (flags & O_DIRECT) == 0 && !lies_in_memory(descriptor);
    of = {file, descriptor, reads_ahead, found.st_dev, found.st_ino};
}

const open_files::place* open_files::find(uint32_t file) {
    place& of = places_[file % most];
    if (file == 0 || of.file != file) return nullptr;
    if (calls::descriptors::file_of(of.descriptor) == file) return &of;
    of = {};
    return nullptr;
}

bool open_files::is_same(const place& known, int64_t& bytes) {
    struct stat found {};
    if (direct::call(SYS_fstat, known.descriptor, direct::address(&found)) != 0) return false;
    bytes = found.st_size;
    return found.st_dev == known.device && found.st_ino == known.inode;
}

}  // namespace halcyon::predict::prefetch
