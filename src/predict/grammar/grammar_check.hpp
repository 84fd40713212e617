#pragma once

#include <string>

#include "predict/grammar/cursors.hpp"
#include "predict/grammar/grammar.hpp"

namespace halcyon::predict {

/// What is wrong with a grammar, in words; empty when nothing is. Everything that grammar.hpp promises, and that what
/// is kept beside the bodies (table of digrams, occurrences, labels, lengths, counts, first and last terminals) fits
/// them. A full grammar may have digrams that are not indexed. Cost: O(nodes), with memory of its own.
[[nodiscard]] std::string check(const grammar& g);

/// The same for cursors on it, with the two rules of Dorier 2014, section 7.2.2. *Nesting*: a marked node of a rule R
/// is followed on the path by a marked node in R; only the last one may be of a rule, whose first terminal is expected
/// then. *Utility*: the rule that the path begins in is S or is used. Repetitions done are fewer than there are, and a
/// node has as many marks as there are frames at it.
[[nodiscard]] std::string check(const grammar& g, const cursor_set& cursors);

}  // namespace halcyon::predict
