#include "base/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "base/available_memory.hpp"

namespace halcyon {
namespace {

result<std::byte*> map_all(int fd, uint64_t bytes, bool writable, bool huge_pages) {
    const int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void* at = ::mmap(nullptr, bytes, protection, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) return system_failure("mmap of " + std::to_string(bytes) + " bytes of shared memory", errno);
    // Never dumped: a core file of the simulation should hold the simulation.
    ::madvise(at, bytes, MADV_DONTDUMP);
    if (huge_pages) ::madvise(at, bytes, MADV_HUGEPAGE);
    return static_cast<std::byte*>(at);
}

}  // namespace

shared_memory::~shared_memory() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
}

result<shared_memory> shared_memory::create(std::string_view label, uint64_t bytes, bool huge_pages) {
    // fallocate would not fail: the system would kill processes until the pages are there.
    if (const uint64_t available = available_memory(); bytes > available - available / 20)
        return failure{error_kind::system,
                       "cannot reserve " + std::to_string(bytes) +
                           " bytes of shared memory: " + std::to_string(available) +
                           " bytes are available to this process; lower resources.buffer.size",
                       ENOMEM};
    // The limit is meant for files, but holds here, too, and is told by a signal.
    rlimit largest{};
    if (::getrlimit(RLIMIT_FSIZE, &largest) == 0 && largest.rlim_cur != RLIM_INFINITY && bytes > largest.rlim_cur)
        return failure{error_kind::system,
                       "cannot reserve " + std::to_string(bytes) +
                           " bytes of shared memory: no file may have more than " + std::to_string(largest.rlim_cur) +
                           " bytes (ulimit -f)",
                       EFBIG};
    shared_memory made;
    made.fd_ = descriptor(::memfd_create(std::string(label).c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!made.fd_) return system_failure("memfd_create", errno);
    if (::ftruncate(made.fd_.get(), static_cast<off_t>(bytes)) != 0)
        return system_failure("shared memory of " + std::to_string(bytes) + " bytes", errno);
    auto at = map_all(made.fd_.get(), bytes, true, huge_pages);
    if (!at) return at.why();
    made.data_ = *at;
    made.bytes_ = bytes;
    // After the advice, so that the reserved pages may already be huge ones.
    int why = 0;
    do why = ::fallocate(made.fd_.get(), 0, 0, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
    while (why == EINTR);
    if (why != 0)
        return system_failure(
            "cannot reserve " + std::to_string(bytes) + " bytes of shared memory (lower resources.buffer.size)", why);
    if (::fcntl(made.fd_.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0)
        return system_failure("sealing shared memory", errno);
    return made;
}

result<shared_memory> shared_memory::map(descriptor fd, uint64_t bytes, bool writable) {
    const int seals = ::fcntl(fd.get(), F_GET_SEALS);
    struct stat about {};
    if (seals < 0 || ::fstat(fd.get(), &about) != 0) return system_failure("shared memory received", errno);
    if ((seals & (F_SEAL_GROW | F_SEAL_SHRINK)) != (F_SEAL_GROW | F_SEAL_SHRINK))
        return failure{error_kind::usage, "shared memory received is not sealed: its sender could shrink it", 0};
    const auto size = static_cast<uint64_t>(about.st_size);
    if ((bytes != 0 && bytes != size) || size == 0)
        return failure{error_kind::usage,
                       "shared memory received has " + std::to_string(size) + " bytes, not " + std::to_string(bytes),
                       0};
    shared_memory made;
    auto at = map_all(fd.get(), size, writable, false);
    if (!at) return at.why();
    made.fd_ = std::move(fd);
    made.data_ = *at;
    made.bytes_ = size;
    return made;
}

result<void> shared_memory::touch(uint64_t offset, uint64_t bytes) {
    const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    const uint64_t from = offset / page * page;
    const uint64_t to = std::min(bytes_, (offset + bytes + page - 1) / page * page);
#ifdef MADV_POPULATE_WRITE
    if (::madvise(data_ + from, to - from, MADV_POPULATE_WRITE) == 0) return {};
    if (errno != EINVAL) return system_failure("touching shared memory", errno);
#endif
    // Kernels before 5.14: read each page. Contents stay as they are.
    for (uint64_t at = from; at < to; at += page) static_cast<void>(*static_cast<volatile std::byte*>(data_ + at));
    return {};
}

result<void> shared_memory::freeze() {
    if (data_ != nullptr) ::munmap(std::exchange(data_, nullptr), bytes_);
    if (::fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SEAL) != 0)
        return system_failure("freezing shared memory", errno);
    auto at = map_all(fd_.get(), bytes_, false, false);
    if (!at) return at.why();
    data_ = *at;
    return {};
}

}  // namespace halcyon
