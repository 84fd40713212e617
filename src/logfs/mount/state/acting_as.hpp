#pragma once

#include <sys/types.h>

#include <memory>
#include <vector>

#include "base/error.hpp"

struct fuse_req;

namespace halcyon::logfs {

/// A user as the kernel asks for one when a file is opened, created or changed.
struct user_identity {
    uid_t user = 0;
    gid_t group = 0;
    std::vector<gid_t> groups;  ///< others
};

/// For as long as it lives, this thread has the rights of a user, and what it creates is that user's: owner, group and
/// quota. Null: of this process. One may live within another. Only root can be somebody else; all others are who they
/// are, and never get an identity from the functions below.
///
/// Linux has these identities by thread; the C library's calls would change them in all threads.
///
/// Throws std::system_error where the system does not let this process be that user.
class acting_as {
  public:
    explicit acting_as(std::shared_ptr<const user_identity> who);
    ~acting_as();
    acting_as(const acting_as&) = delete;
    acting_as& operator=(const acting_as&) = delete;

  private:
    const std::shared_ptr<const user_identity> who_;
    const user_identity* const before_;
};

/// Whether this thread acts as another user than this process.
bool acts_as_another();

/// The program whose request is answered. Null where only this process' own user can ask, or root asks.
std::shared_ptr<const user_identity> caller_of(fuse_req* request, bool is_for_all_users);

/// Whom a container belongs to, by the directory that a descriptor stands for. A mount that runs as root does with a
/// container what that user may do, whoever asks for it: so a container into which somebody put links or names of other
/// files leads nobody to what its owner may not have. Null: it is this process' own.
///
/// Where directory and marker belong to two users, the one that is not root counts; failure (EACCES): neither is.
result<std::shared_ptr<const user_identity>> owner_of_container(int directory);

}  // namespace halcyon::logfs
