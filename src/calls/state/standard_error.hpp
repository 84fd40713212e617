#pragma once

namespace halcyon::calls::standard_error {

/// Which file it is, when the process begins.
void remember();

/// Writes what people should know. Nothing where descriptor 2 has become another file of the application meanwhile: it
/// would be in the middle of its data. A terminal, and a log that is only appended to, will do.
void say(const char* text, int length);

/// Whether it would.
[[nodiscard]] bool is_meant_for_people();

}  // namespace halcyon::calls::standard_error
