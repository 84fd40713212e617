#pragma once

#include <string_view>

#include "logfs/container/directory/container.hpp"
#include "logfs/container/directory/file_status.hpp"

namespace halcyon::logfs {

/// What a stat needs of a container, without its index: from the states of its writers, two blocks of each. False: one
/// of them has not ended, and is not of this boot; several wrote and one cut the file; something is damaged, or it is
/// one of PLFS. Then a reader has to say it.
bool look_quickly(const container& of, std::string_view boot_id, written_state& out);

}  // namespace halcyon::logfs
