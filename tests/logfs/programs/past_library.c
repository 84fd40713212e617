// What reaches a descriptor, given by its number, by system calls of the program's own: a line for each way, with its
// result and its error.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#ifdef HAS_LIBURING
#include <liburing.h>
#endif

static char bytes[8] = "written";
static struct iovec piece = {bytes, sizeof bytes};

static void say(const char* way, long result) {
    printf("%s %ld %s\n", way, result, result < 0 ? strerrorname_np(errno) : "-");
}

static void read_in_all_ways(int fd) {
    say("read", syscall(SYS_read, fd, bytes, sizeof bytes));
    say("pread64", syscall(SYS_pread64, fd, bytes, sizeof bytes, 0L));
    say("readv", syscall(SYS_readv, fd, &piece, 1));
    say("preadv2", syscall(SYS_preadv2, fd, &piece, 1, 0L, 0L, 0));
    int pipes[2];
    int memory = (int)syscall(SYS_memfd_create, "memory", 0);
    if (syscall(SYS_pipe2, pipes, 0) != 0) exit(1);
    say("sendfile", syscall(SYS_sendfile, pipes[1], fd, NULL, sizeof bytes));
    say("splice", syscall(SYS_splice, fd, NULL, pipes[1], NULL, sizeof bytes, 0));
    say("copy_file_range", syscall(SYS_copy_file_range, fd, NULL, memory, NULL, sizeof bytes, 0));
    say("mmap", syscall(SYS_mmap, NULL, 4096L, PROT_READ, MAP_PRIVATE, fd, 0L));
    say("mmap,shared", syscall(SYS_mmap, NULL, 4096L, PROT_READ, MAP_SHARED, fd, 0L));
}

static void write_in_all_ways(int fd) {
    say("write", syscall(SYS_write, fd, bytes, sizeof bytes));
    say("pwrite64", syscall(SYS_pwrite64, fd, bytes, sizeof bytes, 4L));
    say("writev", syscall(SYS_writev, fd, &piece, 1));
    say("pwritev2", syscall(SYS_pwritev2, fd, &piece, 1, 4L, 0L, 0));
    int memory = (int)syscall(SYS_memfd_create, "memory", 0);
    if (syscall(SYS_write, memory, "memory", 6L) != 6 || syscall(SYS_lseek, memory, 0L, SEEK_SET) != 0) exit(1);
    say("sendfile,into", syscall(SYS_sendfile, fd, memory, NULL, 6L));
    say("copy_file_range,into", syscall(SYS_copy_file_range, memory, NULL, fd, NULL, 6L, 0));
    say("mmap,writable", syscall(SYS_mmap, NULL, 4096L, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L));
    say("ftruncate", syscall(SYS_ftruncate, fd, 2L));
    say("fallocate", syscall(SYS_fallocate, fd, 0, 0L, 100L));
}

static void submit(int fd, const char* way, int operation) {
    aio_context_t queue = 0;
    if (syscall(SYS_io_setup, 1, &queue) != 0) return;
    struct iocb request = {.aio_fildes = (uint32_t)fd,
                           .aio_lio_opcode = (uint16_t)operation,
                           .aio_buf = (uint64_t)(uintptr_t)bytes,
                           .aio_nbytes = sizeof bytes};
    struct iocb* all[1] = {&request};
    long submitted = syscall(SYS_io_submit, queue, 1L, all);
    struct io_event event;
    if (submitted == 1 && syscall(SYS_io_getevents, queue, 1L, 1L, &event, NULL) == 1) {
        submitted = event.res;
        if (submitted < 0) {
            errno = (int)-submitted;
            submitted = -1;
        }
    }
    say(way, submitted);
    syscall(SYS_io_destroy, queue);
}

static void ask_ring(int fd, const char* way, int writes) {
#ifdef HAS_LIBURING
    struct io_uring ring;
    struct io_uring_cqe* done = NULL;
    if (io_uring_queue_init(2, &ring, 0) != 0) return;
    struct io_uring_sqe* request = io_uring_get_sqe(&ring);
    if (writes)
        io_uring_prep_write(request, fd, bytes, sizeof bytes, 0);
    else
        io_uring_prep_read(request, fd, bytes, sizeof bytes, 0);
    if (io_uring_submit_and_wait(&ring, 1) == 1 && io_uring_wait_cqe(&ring, &done) == 0) {
        if (done->res < 0) errno = -done->res;
        say(way, done->res < 0 ? -1 : done->res);
    }
    io_uring_queue_exit(&ring);
#else
    (void)fd, (void)way, (void)writes;
#endif
}

/// By its name, as `program /dev/stdin` does it.
static void open_again(int fd, int writes) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    long again = syscall(SYS_openat, AT_FDCWD, name, writes ? O_WRONLY | O_TRUNC : O_RDONLY);
    if (writes)
        say("opened again,write", again < 0 ? again : syscall(SYS_write, again, bytes, sizeof bytes));
    else
        say("opened again,read", again < 0 ? again : syscall(SYS_read, again, bytes, sizeof bytes));
    again = syscall(SYS_openat, AT_FDCWD, name, O_RDWR);
    say("opened again,both", again < 0 ? again : syscall(SYS_read, again, bytes, sizeof bytes));
}

/// Through a socket.
static int sent(int fd) {
    int ends[2];
    char space[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec one = {bytes, 1};
    struct msghdr message = {.msg_iov = &one, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) exit(1);
    struct cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(part), &fd, sizeof fd);
    if (sendmsg(ends[0], &message, 0) != 1 || recvmsg(ends[1], &message, 0) != 1) exit(1);
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

int main(int count, char** words) {
    const int fd = count > 1 ? atoi(words[1]) : 3;
    struct stat found;
    if (syscall(SYS_fstat, fd, &found) != 0) return 1;
    printf("status %s\n", S_ISDIR(found.st_mode) ? "directory" : S_ISREG(found.st_mode) ? "file" : "other");
    read_in_all_ways(fd);
    submit(fd, "io_submit,read", IOCB_CMD_PREAD);
    ask_ring(fd, "io_uring,read", 0);
    open_again(fd, 0);
    const long other = syscall(SYS_dup, fd);
    say("duplicate,read", syscall(SYS_read, other, bytes, sizeof bytes));
    const int received = sent(fd);
    say("received,read", syscall(SYS_read, received, bytes, sizeof bytes));
    if (count > 2) return 0;  // it is asked to write nothing
    write_in_all_ways(fd);
    open_again(fd, 1);
    submit(fd, "io_submit,write", IOCB_CMD_PWRITE);
    ask_ring(fd, "io_uring,write", 1);
    return 0;
}
