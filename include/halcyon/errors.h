/* What all C interfaces of Halcyon share: the kinds of failures, and what marks their functions. */
#ifndef HALCYON_ERRORS_H
#define HALCYON_ERRORS_H

#if defined(__GNUC__)
#define HALCYON_API __attribute__((visibility("default")))
#else
#define HALCYON_API
#endif

/** What kind of failure a call reports. */
typedef enum halcyon_error {
    HALCYON_OK = 0,
    HALCYON_ERROR_CONFIG = 1,      /**< a configuration file is wrong: file, line, key path */
    HALCYON_ERROR_USAGE = 2,       /**< the call makes no sense; the message says which call would */
    HALCYON_ERROR_SYSTEM = 3,      /**< the system refused: errno and path */
    HALCYON_ERROR_UNAVAILABLE = 4, /**< no server; the message says what happened instead */
    HALCYON_ERROR_INTERNAL = 5     /**< a fault of Halcyon: please report */
} halcyon_error;

#endif
