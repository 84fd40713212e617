#pragma once

// What the mini-apps in C do alike: key=value words of their command line, and an end with a message.

/// A setting is a whole number of at least `least`, or a text.
struct setting {
    const char* key;
    long* number;
    long least;
    const char** text;
};

/// Sets what the words say; the last one wins. Ends all ranks when a word is not known.
void read_settings(int argc, char** argv, const struct setting* known, int count);

/// Ends all ranks with a message.
_Noreturn void stop(const char* format, ...);

/// There may be one already.
void make_directory(const char* path);

/// The same number for the same seed and place, on any rank: even in [0, 1).
double even_number(long seed, long place);
