#pragma once

namespace halcyon::calls {

/// Whether a program that this process starts as it is now (its user, its root directory) can record: it must be able
/// to write to the run's folder and to load the library that records.
bool children_can_record();

}  // namespace halcyon::calls
