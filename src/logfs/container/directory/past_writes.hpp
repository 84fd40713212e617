#pragma once

#include "logfs/container/directory/container.hpp"

/// Where a container lies on a file system of several nodes, descriptors of applications stand for an empty file in it,
/// `halcyon-descriptor`. A program that writes to one past the library writes into that file: nobody knows over which
/// bytes of the container, and when. So reads fail until a repair has put them aside.
namespace halcyon::logfs {

/// How far they reach; 0: there are none.
int64_t past_writes(const container& in);

/// Failure: config, there are some.
result<void> expect_no_past_writes(const container& in);

}  // namespace halcyon::logfs
