#pragma once

namespace halcyon::coordinate {

/// A process cannot take turns, because of `why`: a file `<host>.<PID namespace>.<process id>.<start>.uncoordinated` in
/// the folder of the run counts it for the summary. Processes in several PID namespaces may have the same number.
/// Safe within applications.
void note_uncoordinated(const char* folder, const char* why);

}  // namespace halcyon::coordinate
