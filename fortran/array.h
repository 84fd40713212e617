/* Fortran arrays, of any kind, rank and stride, in terms of halcyon.h. Private to the Fortran module. */
#ifndef HALCYON_FORTRAN_ARRAY_H
#define HALCYON_FORTRAN_ARRAY_H

#include <ISO_Fortran_binding.h>

#include "halcyon/halcyon.h"

/* halcyon_write_bytes of a Fortran array. Refuses an array whose elements are not the variable's; an array that is
 * not contiguous is packed first. */
int halcyon_fortran_write(halcyon_handle h, const char* variable, int block, const CFI_cdesc_t* array);

/* halcyon_alloc into a Fortran pointer: associates it with the block, lower bounds 1. `shape_rank` < 0: the block's
 * own shape, reversed; otherwise `shape`, which must be the pointer's rank and the block's number of elements. */
int halcyon_fortran_alloc(halcyon_handle h, const char* variable, int block, CFI_cdesc_t* pointer, int shape_rank,
                          const int64_t* shape);

/* Every code returned by the C interface or by the two above passes through here before Fortran sees it: remembers
 * whose message explains it, and returns a halcyon_error. */
int halcyon_fortran_conclude(int code);

/* The message of the last failed call of this thread; "" when none failed. */
const char* halcyon_fortran_message(void);

/* Ends the program the way MPI programs end: MPI_Abort where MPI runs, exit otherwise. */
void halcyon_fortran_abort(int code);

#endif
