#pragma once

/// The cases that every file backend must pass. A test program includes this once, and says which backend it has:
///
///     INSTANTIATE_TEST_SUITE_P(mine, backend_conformance, ::testing::Values(backend_offer{…}), name_of_offer);
#include "calls/backend_conformance/directories.hpp"
#include "calls/backend_conformance/files.hpp"
#include "calls/backend_conformance/locks.hpp"
#include "calls/backend_conformance/mappings.hpp"
#include "calls/backend_conformance/names.hpp"
#include "calls/backend_conformance/processes.hpp"
#include "calls/backend_conformance/random_operations.hpp"
