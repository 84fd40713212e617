#pragma once

#include <fuse_lowlevel.h>

namespace halcyon::logfs {

/// For as long as it lives, this thread creates files as the program whose request it answers: with its user, group and
/// other groups, so that owner and quota are that user's. Nothing changes where only one user can ask.
///
/// Linux has these identities by thread; the C library's calls would change them in all threads.
class as_caller {
  public:
    as_caller(fuse_req_t request, bool is_for_all_users);
    as_caller(const as_caller&) = delete;
    as_caller& operator=(const as_caller&) = delete;
    ~as_caller() { end(); }

    /// This process again.
    void end();
    [[nodiscard]] bool is_another() const { return is_another_; }

  private:
    bool is_another_ = false;
};

}  // namespace halcyon::logfs
