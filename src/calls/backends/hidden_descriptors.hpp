#pragma once

/// Descriptors that backends have for themselves, any number of them: out of the application's way, which takes the
/// lowest ones and cannot close these. All are closed on exec.
namespace halcyon::calls::hidden_descriptors {

/// Makes room for them: the limit of open files, where it is below 4096, is raised to that or as far as it may be.
/// When backends start.
void start();

/// `fd`, which was opened a moment ago, under another number, or under its own where there is no other; -errno of the
/// call that opened it, as it is.
int hide(int fd);
int close(int fd);
[[nodiscard]] bool is_hidden(int fd);
/// The first of them from `fd` on; -1: none.
[[nodiscard]] int next(int fd);
/// How many have room out of the way.
[[nodiscard]] int room();

}  // namespace halcyon::calls::hidden_descriptors
