#pragma once

#include <cstdint>
#include <string_view>

#include "logfs/container/files/file_calls.hpp"
#include "logfs/container/files/memory_source.hpp"
#include "logfs/container/files/page_array.hpp"

namespace halcyon::logfs {

/// Begins the name that what is replaced has for a moment, where names cannot be exchanged: then follows when that was,
/// in ns since 1970.
inline constexpr std::string_view replaced_prefix = ".halcyon-replaced-";

/// When something got this name; 0: it is another one.
int64_t replaced_at_ns(std::string_view name);

/// A name below a directory (AT_FDCWD, or a descriptor), ended by 0.
struct name_at {
    int directory;
    const char* name;
};

/// A rename onto a name that something has, where one of both is a container, which is a directory to the system: it
/// takes no file's place and no full directory's.
///
/// The two exchange their names, so that the new name stands for one of them at any moment. Where a file system cannot
/// do that (NFS, GlusterFS), what is replaced is put aside first, and gets its name back where the rename then fails:
/// for a moment nothing has the name. A process that is killed in that moment leaves it aside, under a hidden name.
class replacement {
  public:
    replacement(file_calls& calls, name_at from, name_at to) : calls_(calls), from_(from), to_(to), replaced_(from) {}
    replacement(const replacement&) = delete;
    replacement& operator=(const replacement&) = delete;

    /// 0: what was replaced is called replaced(), and is the caller's to remove. -errno: all is as it was, and it
    /// may be tried again.
    int make();
    [[nodiscard]] name_at replaced() const { return replaced_; }
    /// By an exchange: what was replaced is where the other one was. Else it is beside that by now.
    [[nodiscard]] bool is_exchange() const { return aside_.empty(); }
    /// What was replaced cannot be removed: both get their names back. False: they cannot, or it is gone after all.
    bool undo();

  private:
    int put_aside();
    int rename(name_at from, name_at to, unsigned flags = 0) {
        return calls_.rename_at(from.directory, from.name, to.directory, to.name, flags);
    }

    file_calls& calls_;
    memory_source memory_{calls_};
    page_array<char> aside_{memory_};
    name_at from_;
    name_at to_;
    name_at replaced_;
};

}  // namespace halcyon::logfs
