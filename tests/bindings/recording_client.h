/* A C interface that stores nothing and remembers everything: what the language bindings pass is compared with what
 * the test meant to pass. It replaces libhalcyon in tests of the bindings only. */
#ifndef HALCYON_TESTS_RECORDING_CLIENT_H
#define HALCYON_TESTS_RECORDING_CLIENT_H

#include "halcyon/halcyon.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Makes a variable known; each of its blocks has this shape. Replaces an earlier declaration of that name. */
HALCYON_API void recording_declare(const char* variable, int type, int rank, const int64_t* dimensions);

/** Forgets calls and variables. */
HALCYON_API void recording_reset(void);

/** The next call of any function fails with this code and message. */
HALCYON_API void recording_fail_next(int code, const char* message);

/** All calls since the reset, one a line: "write theta 0 24\n". */
HALCYON_API const char* recording_calls(void);

/** Bytes of the block last written or committed, and the address they came from. */
HALCYON_API const void* recording_data(void);
HALCYON_API const void* recording_address(void);

#ifdef __cplusplus
}
#endif

#endif
