#include "array.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Codes of failures that this file found itself are shifted by this much until halcyon_fortran_conclude. */
enum { own_failure = 100 };

static _Thread_local char own_message[512];
static _Thread_local int own_is_last = 0;

static int fail(int kind, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(own_message, sizeof own_message, format, arguments);
    va_end(arguments);
    return own_failure + kind;
}

int halcyon_fortran_conclude(int code) {
    if (code == HALCYON_OK) return HALCYON_OK;
    own_is_last = code > own_failure;
    return own_is_last ? code - own_failure : code;
}

const char* halcyon_fortran_message(void) {
    return own_is_last ? own_message : halcyon_error_message();
}

void halcyon_fortran_abort(int code) {
    int initialized = 0, finalized = 0;
    MPI_Initialized(&initialized);
    MPI_Finalized(&finalized);
    if (initialized && !finalized) MPI_Abort(MPI_COMM_WORLD, code);
    exit(code);
}

/* What Fortran calls the elements of a variable. Fortran has no unsigned integers: their bits travel in signed ones. */
struct element {
    const char* fortran_name;
    int category;
    size_t bytes;
};

static struct element element_of(halcyon_type type) {
    switch (type) {
        case HALCYON_INT8:
        case HALCYON_UINT8:
            return (struct element){"integer(int8)", CFI_type_Integer, 1};
        case HALCYON_INT16:
        case HALCYON_UINT16:
            return (struct element){"integer(int16)", CFI_type_Integer, 2};
        case HALCYON_INT32:
        case HALCYON_UINT32:
            return (struct element){"integer(int32)", CFI_type_Integer, 4};
        case HALCYON_INT64:
        case HALCYON_UINT64:
            return (struct element){"integer(int64)", CFI_type_Integer, 8};
        case HALCYON_FLOAT32:
            return (struct element){"real(real32)", CFI_type_Real, 4};
        case HALCYON_FLOAT64:
            return (struct element){"real(real64)", CFI_type_Real, 8};
    }
    return (struct element){"of a type that this module does not know", -1, 0};
}

static int check_elements(const char* call, const char* variable, const halcyon_block_info* block,
                          const CFI_cdesc_t* array) {
    const struct element wanted = element_of(block->type);
    const int category = array->type & CFI_type_mask;
    if (category == wanted.category && array->elem_len == wanted.bytes) return HALCYON_OK;
    const char* seen = category == CFI_type_Integer ? "integers"
                       : category == CFI_type_Real  ? "reals"
                                                    : "other elements";
    return fail(HALCYON_ERROR_USAGE, "%s: variable '%s' is %s in the configuration; the array has %s of %zu bytes",
                call, variable, wanted.fortran_name, seen, array->elem_len);
}

static int64_t elements_of(const CFI_cdesc_t* array) {
    int64_t n = 1;
    for (int d = 0; d < array->rank; ++d) n *= array->dim[d].extent > 0 ? array->dim[d].extent : 0;
    return n;
}

static int is_contiguous(const CFI_cdesc_t* array) {
    int64_t stride = (int64_t)array->elem_len;
    for (int d = 0; d < array->rank; ++d) {
        if (array->dim[d].extent > 1 && array->dim[d].sm != stride) return 0;
        stride *= array->dim[d].extent;
    }
    return 1;
}

/* Copies dimensions 0 … d of `array`, from `from` on, to `to`; returns the end of what it wrote. */
static char* pack(char* to, const char* from, const CFI_cdesc_t* array, int d) {
    const CFI_dim_t* dim = &array->dim[d];
    if (d == 0 && dim->sm == (CFI_index_t)array->elem_len) {
        const size_t bytes = (size_t)dim->extent * array->elem_len;
        memcpy(to, from, bytes);
        return to + bytes;
    }
    for (CFI_index_t i = 0; i < dim->extent; ++i, from += dim->sm) {
        if (d > 0) {
            to = pack(to, from, array, d - 1);
        } else {
            memcpy(to, from, array->elem_len);
            to += array->elem_len;
        }
    }
    return to;
}

int halcyon_fortran_write(halcyon_handle h, const char* variable, int block, const CFI_cdesc_t* array) {
    halcyon_block_info info;
    int code = halcyon_describe(h, variable, block, &info);
    if (code == HALCYON_OK) code = check_elements("halcyon_write", variable, &info, array);
    if (code != HALCYON_OK) return code;
    if (array->rank > 0 && array->dim[array->rank - 1].extent < 0)
        return fail(
            HALCYON_ERROR_USAGE,
            "halcyon_write: variable '%s': the array is assumed-size (*), so its size is unknown; pass a section "
            "with an upper bound",
            variable);

    const int64_t bytes = elements_of(array) * (int64_t)array->elem_len;
    static const char nothing = 0;
    if (bytes == 0) return halcyon_write_bytes(h, variable, block, &nothing, 0);
    if (is_contiguous(array) || bytes != info.bytes) /* a wrong size is the library's to report: do not pack first */
        return halcyon_write_bytes(h, variable, block, array->base_addr, bytes);

    char* packed = malloc((size_t)bytes);
    if (packed == NULL)
        return fail(HALCYON_ERROR_SYSTEM,
                    "halcyon_write: variable '%s': no memory to pack %lld bytes of a section that is "
                    "not contiguous",
                    variable, (long long)bytes);
    pack(packed, array->base_addr, array, array->rank - 1);
    code = halcyon_write_bytes(h, variable, block, packed, bytes);
    free(packed);
    return code;
}

int halcyon_fortran_alloc(halcyon_handle h, const char* variable, int block, CFI_cdesc_t* pointer, int shape_rank,
                          const int64_t* shape) {
    halcyon_block_info info;
    int code = halcyon_describe(h, variable, block, &info);
    if (code == HALCYON_OK) code = check_elements("halcyon_alloc", variable, &info, pointer);
    if (code != HALCYON_OK) return code;

    const int rank = shape_rank < 0 ? info.rank : shape_rank;
    if (rank != pointer->rank)
        return fail(HALCYON_ERROR_USAGE,
                    shape_rank < 0
                        ? "halcyon_alloc: variable '%s' has %d dimensions, the pointer %d; give a shape to see "
                          "the block otherwise"
                        : "halcyon_alloc: variable '%s': the shape has %d dimensions, the pointer %d",
                    variable, rank, (int)pointer->rank);
    CFI_index_t extents[CFI_MAX_RANK];
    int64_t bytes = (int64_t)pointer->elem_len;
    for (int d = 0; d < rank; ++d) {
        extents[d] = (CFI_index_t)(shape_rank < 0 ? info.dimensions[rank - 1 - d] : shape[d]);
        bytes *= extents[d] > 0 ? extents[d] : 0;
    }
    if (bytes != info.bytes)
        return fail(HALCYON_ERROR_USAGE,
                    "halcyon_alloc: variable '%s': the shape asks for %lld bytes, the block has %lld", variable,
                    (long long)bytes, (long long)info.bytes);

    void* data = NULL;
    code = halcyon_alloc(h, variable, block, &data);
    if (code != HALCYON_OK) return code;
    pointer->base_addr = data;
    CFI_index_t stride = (CFI_index_t)pointer->elem_len;
    for (int d = 0; d < rank; ++d) {
        pointer->dim[d] = (CFI_dim_t){.lower_bound = 1, .extent = extents[d], .sm = stride};
        stride *= extents[d];
    }
    return HALCYON_OK;
}
