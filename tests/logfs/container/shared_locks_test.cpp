#include "logfs/container/files/shared_locks.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/sysmacros.h>

#include <string_view>

#include "logfs/container/files/file_systems.hpp"
#include "temporary_folder.hpp"
#include "watched_files.hpp"

namespace halcyon::logfs {
namespace {

constexpr std::string_view mounts =
    "22 28 0:20 / /proc rw,nosuid shared:12 - proc proc rw\n"
    "40 28 0:52 /home /home rw,relatime shared:20 master:1 - nfs4 server:/home "
    "rw,vers=4.2,hard,proto=tcp,clientaddr=10.0.0.7,local_lock=none,addr=10.0.0.1\n"
    "41 28 0:53 / /old rw - nfs server:/old rw,vers=3,nolock,proto=tcp,local_lock=all,addr=10.0.0.1\n"
    "42 28 0:54 / /scratch rw,relatime - lustre mds@tcp:/scratch rw,checksum,flock,user_xattr,lazystatfs\n"
    "43 28 0:55 / /scratch2 rw,relatime - lustre mds@tcp:/scratch2 rw,checksum,localflock,user_xattr,lazystatfs\n"
    "44 28 0:56 / /with\\040space rw - fuse.glusterfs node1:/volume rw,user_id=0,group_id=0\n"
    "45 28 0:57 / /far rw - fuse.sshfs far:/ rw,user_id=0\n"
    "46 28 0:58 / /bee rw - beegfs beegfs_nodev rw,cfgFile=/etc/beegfs/beegfs-client.conf\n";

bool is_shared(unsigned device) {
    return find_shared_locks(mounts, makedev(0, device));
}

TEST(shared_locks, are_what_the_mount_says) {
    EXPECT_TRUE(is_shared(52));
    EXPECT_FALSE(is_shared(53)) << "nolock";
    EXPECT_TRUE(is_shared(54));
    EXPECT_FALSE(is_shared(55)) << "localflock";
    EXPECT_TRUE(is_shared(56));
    EXPECT_FALSE(is_shared(57)) << "the kernel keeps locks where a FUSE file system has none";
    EXPECT_FALSE(is_shared(58));
    EXPECT_FALSE(is_shared(5)) << "no such mount";
    EXPECT_FALSE(find_shared_locks("no mounts\n\n40 28 0:52 / / rw - \n40 28 0:52", makedev(0, 52)));
    EXPECT_TRUE(is_mounted_with_shared_locks("nfs", "rw,local_lock=flock"))
        << "fcntl's are shared, and only these count";
    EXPECT_FALSE(is_mounted_with_shared_locks("nfs", "rw,local_lock=posix"));
    EXPECT_FALSE(is_mounted_with_shared_locks("nfs", "rw,addr=local_lock=none"));
    EXPECT_FALSE(is_mounted_with_shared_locks("lustre", "rw"));
}

TEST(shared_locks, are_those_of_a_file_system_of_one_node) {
    const halcyon::tests::temporary_folder folder;
    tests::watched_files calls;
    const int fd = calls.open_at(AT_FDCWD, folder.path().c_str(), O_RDONLY | O_DIRECTORY, 0);
    ASSERT_GE(fd, 0);
    for (const int64_t type : {int64_t{EXT4_SUPER_MAGIC}, int64_t{XFS_SUPER_MAGIC}, int64_t{TMPFS_MAGIC}, zfs_magic}) {
        calls.type = type;
        EXPECT_TRUE(has_shared_locks(calls, fd)) << type;
    }
    // The mount is of another type, which says nothing.
    for (const int64_t type : {int64_t{NFS_SUPER_MAGIC}, fuse_magic, ceph_magic, int64_t{-1}}) {
        calls.type = type;
        EXPECT_FALSE(has_shared_locks(calls, fd)) << type;
    }
    calls.close(fd);
}

}  // namespace
}  // namespace halcyon::logfs
