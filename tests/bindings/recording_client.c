#include "recording_client.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_variables = 64, max_blocks = 4, transcript_bytes = 1 << 16 };

struct variable {
    char name[64];
    halcyon_block_info info;
    void* allocated[max_blocks];
};

struct halcyon_session {
    int64_t iteration;
    uint64_t blocks, bytes, signals;
    struct halcyon_session* next;
};

static struct variable variables[max_variables];
static int variable_count = 0;
static char transcript[transcript_bytes];
static char message[512];
static int next_code = 0;
static char next_message[512];
static void* last_data = NULL;
static const void* last_address = NULL;
/* Those that a test leaves open on purpose are not leaked. */
static struct halcyon_session* open_sessions = NULL;

static int64_t type_bytes(int type) {
    static const int64_t sizes[] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
    return sizes[type];
}

static void record(const char* format, ...) {
    const size_t used = strlen(transcript);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(transcript + used, sizeof transcript - used, format, arguments);
    va_end(arguments);
}

static int fail(int code, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return code;
}

static int planned_failure(void) {
    const int code = next_code;
    next_code = 0;
    if (code != 0) snprintf(message, sizeof message, "%s", next_message);
    return code;
}

static void free_blocks(struct variable* v) {
    for (int b = 0; b < max_blocks; ++b) free(v->allocated[b]);
}

void recording_declare(const char* name, int type, int rank, const int64_t* dimensions) {
    struct variable* v = NULL;
    for (int i = 0; i < variable_count; ++i)
        if (strcmp(variables[i].name, name) == 0) v = &variables[i];
    if (v == NULL)
        v = &variables[variable_count++];
    else
        free_blocks(v);
    memset(v, 0, sizeof *v);
    snprintf(v->name, sizeof v->name, "%s", name);
    v->info.type = (halcyon_type)type;
    v->info.rank = rank;
    v->info.bytes = type_bytes(type);
    for (int d = 0; d < rank; ++d) {
        v->info.dimensions[d] = dimensions[d];
        v->info.bytes *= dimensions[d];
    }
}

void recording_reset(void) {
    for (int i = 0; i < variable_count; ++i) free_blocks(&variables[i]);
    variable_count = 0;
    transcript[0] = message[0] = '\0';
    next_code = 0;
    free(last_data);
    last_data = NULL;
    last_address = NULL;
}

void recording_fail_next(int code, const char* text) {
    next_code = code;
    snprintf(next_message, sizeof next_message, "%s", text);
}

const char* recording_calls(void) {
    return transcript;
}
const void* recording_data(void) {
    return last_data;
}
const void* recording_address(void) {
    return last_address;
}

static int find(const char* name, int block, struct variable** found) {
    for (int i = 0; i < variable_count; ++i) {
        if (strcmp(variables[i].name, name) != 0) continue;
        *found = &variables[i];
        if (block >= 0 && block < max_blocks) return HALCYON_OK;
        fail(HALCYON_ERROR_USAGE, "variable '%s' has no block %d", name, block);
        return HALCYON_ERROR_USAGE;
    }
    fail(HALCYON_ERROR_USAGE, "no variable '%s'", name);
    return HALCYON_ERROR_USAGE;
}

static void keep(struct halcyon_session* h, const void* data, int64_t bytes) {
    free(last_data);
    last_data = malloc((size_t)bytes + 1);
    memcpy(last_data, data, (size_t)bytes);
    last_address = data;
    ++h->blocks;
    h->bytes += (uint64_t)bytes;
}

int halcyon_set_parameter(halcyon_handle h, const char* name, double value) {
    if (planned_failure()) return fail(HALCYON_ERROR_USAGE, "no parameter '%s'", name);
    record("set_parameter %s %s %.17g\n", h == NULL ? "next" : "open", name, value);
    return HALCYON_OK;
}

/* 0.3125 for each of them. */
int halcyon_get_parameter(halcyon_handle h, const char* name, double* value) {
    (void)h;
    const int code = planned_failure();
    if (code) return code;
    record("get_parameter %s\n", name);
    *value = 0.3125;
    return HALCYON_OK;
}

int halcyon_open(const char* config_path, MPI_Comm comm, halcyon_handle* h) {
    *h = NULL;
    const int code = planned_failure();
    if (code) return code;
    int size = 0;
    MPI_Comm_size(comm, &size);
    record("open %s %d\n", config_path, size);
    *h = calloc(1, sizeof **h);
    (*h)->next = open_sessions;
    open_sessions = *h;
    return HALCYON_OK;
}

int halcyon_open_f(const char* config_path, MPI_Fint comm, halcyon_handle* h) {
    return halcyon_open(config_path, MPI_Comm_f2c(comm), h);
}

int halcyon_describe(halcyon_handle h, const char* name, int block, halcyon_block_info* info) {
    struct variable* v;
    if (h == NULL) return fail(HALCYON_ERROR_USAGE, "the session is not open");
    const int code = find(name, block, &v);
    if (code == HALCYON_OK) *info = v->info;
    return code;
}

int halcyon_write(halcyon_handle h, const char* name, const void* data) {
    return halcyon_write_block(h, name, 0, data);
}

int halcyon_write_block(halcyon_handle h, const char* name, int block, const void* data) {
    struct variable* v;
    const int code = find(name, block, &v);
    return code ? code : halcyon_write_bytes(h, name, block, data, v->info.bytes);
}

int halcyon_write_bytes(halcyon_handle h, const char* name, int block, const void* data, int64_t bytes) {
    struct variable* v;
    int code = planned_failure();
    if (code == HALCYON_OK) code = find(name, block, &v);
    if (code) return code;
    if (bytes != v->info.bytes)
        return fail(HALCYON_ERROR_USAGE, "variable '%s': %lld bytes given, a block has %lld", name, (long long)bytes,
                    (long long)v->info.bytes);
    record("write %s %d %lld\n", name, block, (long long)bytes);
    keep(h, data, bytes);
    return HALCYON_OK;
}

int halcyon_alloc(halcyon_handle h, const char* name, int block, void** data) {
    struct variable* v;
    (void)h;
    int code = planned_failure();
    if (code == HALCYON_OK) code = find(name, block, &v);
    if (code) return code;
    v->allocated[block] = calloc(1, (size_t)v->info.bytes + 1);
    *data = v->allocated[block];
    record("alloc %s %d\n", name, block);
    return HALCYON_OK;
}

int halcyon_commit(halcyon_handle h, const char* name, int block) {
    struct variable* v;
    int code = planned_failure();
    if (code == HALCYON_OK) code = find(name, block, &v);
    if (code) return code;
    if (v->allocated[block] == NULL) return fail(HALCYON_ERROR_USAGE, "'%s' was not allocated", name);
    record("commit %s %d\n", name, block);
    keep(h, v->allocated[block], v->info.bytes);
    return HALCYON_OK;
}

int halcyon_clear(halcyon_handle h, const char* name, int block) {
    struct variable* v;
    (void)h;
    int code = planned_failure();
    if (code == HALCYON_OK) code = find(name, block, &v);
    if (code) return code;
    if (v->allocated[block] == NULL) return fail(HALCYON_ERROR_USAGE, "'%s' was not allocated", name);
    record("clear %s %d\n", name, block);
    free(v->allocated[block]);
    v->allocated[block] = NULL;
    return HALCYON_OK;
}

int halcyon_signal(halcyon_handle h, const char* event) {
    const int code = planned_failure();
    if (code) return code;
    record("signal %s\n", event);
    ++h->signals;
    return HALCYON_OK;
}

int halcyon_end_iteration(halcyon_handle h) {
    const int code = planned_failure();
    if (code) return code;
    record("end_iteration %lld\n", (long long)h->iteration++);
    return HALCYON_OK;
}

int halcyon_wait(halcyon_handle h, int64_t iteration, halcyon_stage stage) {
    (void)h;
    const int code = planned_failure();
    if (code) return code;
    record("wait %lld %d\n", (long long)iteration, (int)stage);
    return HALCYON_OK;
}

int halcyon_stats(halcyon_handle h, halcyon_stats_t* stats) {
    const int code = planned_failure();
    if (code) return code;
    if (stats->size_bytes != sizeof *stats) return HALCYON_ERROR_USAGE;
    /* Each count differs, so that a binding that mixes two of them up is seen. */
    *stats = (halcyon_stats_t){.size_bytes = sizeof *stats,
                               .iteration = h->iteration,
                               .blocks = h->blocks,
                               .bytes = h->bytes,
                               .signals = h->signals,
                               .visible_ns = 105,
                               .blocked_ns = 106,
                               .skipped_blocks = 107,
                               .skipped_bytes = 108,
                               .spilled_blocks = 109,
                               .spilled_bytes = 110,
                               .inlined_blocks = 111,
                               .inlined_bytes = 112,
                               .server_restarts = 113,
                               .arena_bytes = 114,
                               .arena_free_bytes = 115};
    return HALCYON_OK;
}

/* Two accesses, each member of which differs. */
static int forecast(halcyon_forecast_t* f) {
    const int code = planned_failure();
    if (code) return code;
    if (f->size_bytes != sizeof *f) return HALCYON_ERROR_USAGE;
    halcyon_expected_access* const a = f->accesses;
    const int64_t capacity = f->capacity;
    *f = (halcyon_forecast_t){.size_bytes = sizeof *f,
                              .accesses = a,
                              .capacity = capacity,
                              .count = capacity < 2 ? capacity : 2,
                              .complete = 1,
                              .threads = 101,
                              .threads_left_out = 102,
                              .phase_calls_done = 103,
                              .phase_calls_left = 104,
                              .phase_bytes_left = 5000000000,
                              .phase_time_left_s = 0.5,
                              .phase_confidence = 0.25,
                              .next_phase_s = 1.5,
                              .next_phase_deviation_s = 2.5,
                              .next_phase_confidence = 0.75,
                              .next_phase_earliest_s = 0.875,
                              .next_phase_latest_s = 2.25,
                              .rest_buffer_bytes = 105,
                              .phase_buffer_bytes = 106,
                              .flush_in_s = 3.5,
                              .flush_for_s = 4.5};
    if (f->count > 0)
        a[0] = (halcyon_expected_access){.operation = HALCYON_ACCESS_OPEN,
                                         .new_file = 1,
                                         .offset = -1,
                                         .bytes = -1,
                                         .begins_s = 5.5,
                                         .deviation_s = 6.5,
                                         .duration_s = 7.5,
                                         .probability = 0.125,
                                         .thread = 8,
                                         .path = "/out/u.000042"};
    if (f->count > 1)
        a[1] = (halcyon_expected_access){.operation = HALCYON_ACCESS_SYNC, .offset = 6000000000, .bytes = 9};
    return HALCYON_OK;
}

int halcyon_forecast(halcyon_handle h, int64_t n, halcyon_forecast_t* f) {
    record("forecast %s %lld\n", h == NULL ? "process" : "session", (long long)n);
    return forecast(f);
}

int halcyon_forecast_window(halcyon_handle h, double seconds, halcyon_forecast_t* f) {
    record("forecast_window %s %.17g %lld\n", h == NULL ? "process" : "session", seconds, (long long)f->capacity);
    return forecast(f);
}

int halcyon_close(halcyon_handle* h) {
    record("close\n");
    struct halcyon_session** link = &open_sessions;
    while (*link != NULL && *link != *h) link = &(*link)->next;
    if (*link != NULL) *link = (*h)->next;
    free(*h);
    *h = NULL;
    return planned_failure();
}

const char* halcyon_error_message(void) {
    return message;
}
const char* halcyon_version(void) {
    return "0.1.0 (recording)";
}
