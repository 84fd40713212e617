// Which layers the calls of a process pass, by its environment; and what becomes of them when it ends.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/coordinated_job.hpp"
#include "calls/record/recorded_note.hpp"
#include "calls/state/direct_call.hpp"
#include "calls/state/held_signals.hpp"
#include "calls/state/process_state.hpp"
#include "calls/state/standard_error.hpp"
#include "calls/state/task_prolog.hpp"
#include "calls/state/unseen.hpp"
#include "calls/wrappers/stdio/stdio_shapes.hpp"
#include "coordinate/client/page_access.hpp"
#include "coordinate/client/patience.hpp"
#include "coordinate/gate/gate_layer.hpp"
#include "coordinate/layer/coordinate_layer.hpp"
#include "coordinate/layer/uncoordinated_note.hpp"
#include "coordinate/page/job_identity.hpp"
#include "coordinate/page/process_life.hpp"
#include "coordinate/page/slot_claim.hpp"
#include "observe/trace/trace_layer.hpp"
#include "predict/layer/predict_layer.hpp"
#include "predict/prefetch/prefetch_layer.hpp"
#include "programs/io/kept_settings.hpp"

namespace halcyon {
namespace {

// Copies: an application may clear its environment before it starts others.
struct setting {
    const char* name;
    const char* entry;  // "NAME=value"; null: not set
};
setting settings[] = {{"HALCYON_LAYERS", nullptr},
                      {"HALCYON_LOG", nullptr},
                      {"HALCYON_LOG_BACKENDS", nullptr},
                      {"HALCYON_LOG_INDEXES", nullptr},
                      {"HALCYON_LOG_MAPPED", nullptr},
                      {"HALCYON_LOG_PER", nullptr},
                      {"HALCYON_LOG_CHECKS", nullptr},
                      {"HALCYON_LOG_STAGE", nullptr},
                      {"HALCYON_LOG_AGENT", nullptr},
                      {"HALCYON_LOG_AGENT_WORDS", nullptr},
                      {"HALCYON_TRACE_DIR", nullptr},
                      {"HALCYON_TRACE_LOCAL", nullptr},
                      {"HALCYON_TRACE_BUFFER", nullptr},
                      {"HALCYON_TRACE_CONTEXTS", nullptr},
                      {"HALCYON_PREDICT_MEMORY", nullptr},
                      {"HALCYON_PREDICT_CUT_OFF", nullptr},
                      {"HALCYON_PREDICT_LEAST_PAUSE_NS", nullptr},
                      {"HALCYON_PREDICT_SAVE", nullptr},
                      {"HALCYON_PREDICT_LOAD", nullptr},
                      {"HALCYON_PREFETCH_BYTES", nullptr},
                      {"HALCYON_PREFETCH_PERCENT", nullptr},
                      {"HALCYON_PREFETCH_ALWAYS", nullptr},
                      {"HALCYON_COORDINATORS", nullptr},
                      {"HALCYON_MUNGE_SOCKETS", nullptr},
                      {"HALCYON_AGENT", nullptr},
                      {"HALCYON_JOB", nullptr},
                      {"HALCYON_JOB_SECRET", nullptr},
                      {"HALCYON_ACCOUNT", nullptr},
                      {"HALCYON_COORDINATE_PATIENCE_MS", nullptr},
                      {"HALCYON_COORDINATE_STARVATION_MS", nullptr},
                      {"HALCYON_COORDINATE_PAUSE_MS", nullptr},
                      {"HALCYON_COORDINATE_BEHIND_MS", nullptr},
                      {"HALCYON_GATE", nullptr},
                      {"HALCYON_GATE_PATH", nullptr}};
setting account_of_slurm{"SLURM_JOB_ACCOUNT", nullptr};  // children have it as they are given it
const char* not_kept = nullptr;                          // the longest, where there was no memory for them
size_t not_kept_bytes = 0;
coordinate::job_identity job{};
char rank[32] = "";  // of this process in its MPI job, as its launcher says it
const char* children[sizeof settings / sizeof settings[0] + 2] = {};

// Calls come before constructors of libraries run, ours among them: nothing here may need one.
constinit observe::trace::trace_layer trace;
constinit predict::predict_layer prediction;
constinit std::atomic<bool> predicts{false};
constinit predict::prefetch::prefetch_layer prefetching;
constinit coordinate::coordinate_layer coordination;
constinit coordinate::gate_layer gate;
constinit std::atomic<bool> coordinates{false};

void complain(const char* text) {
    char line[observe::trace::trace_file::longest_path + 200];
    const int length = snprintf(line, sizeof line, "halcyon: %s\n", text);
    calls::standard_error::say(line, length);
}

const char* value_in(const setting& s) {
    return s.entry == nullptr ? "" : s.entry + std::strlen(s.name) + 1;
}

const char* value_of(const char* name) {
    return kept_settings::value_of(name);
}

/// The entry of LD_PRELOAD by which this library came here.
std::string_view own_preload(const char* list) {
    while (list != nullptr && *list != '\0') {
        const std::string_view one(list, std::strcspn(list, ": "));
        if (one.find("libhalcyon-io.so") != std::string_view::npos) return one;
        list += one.size();
        list += std::strspn(list, ": ");
    }
    return {};
}

size_t bytes_of(const char* name, std::string_view value) {
    return std::strlen(name) + value.size() + 2;
}

/// Memory for texts that are to be kept.
class text_memory {
  public:
    void make_room(const char* name) {
        const char* const value = getenv(name);
        if (value == nullptr) return;
        const size_t bytes = bytes_of(name, value);
        bytes_ += bytes;
        if (bytes <= not_kept_bytes) return;
        not_kept = name;
        not_kept_bytes = bytes;
    }
    /// False: there is none, and nothing is kept.
    bool take() {
        at_ = static_cast<char*>(calls::direct::map_memory(bytes_ + 1));
        if (at_ != nullptr) not_kept = nullptr;
        return at_ != nullptr;
    }
    /// "NAME=value".
    const char* keep(const char* name, std::string_view value) {
        const char* const entry = at_;
        at_ += snprintf(at_, bytes_of(name, value), "%s=%.*s", name, static_cast<int>(value.size()), value.data()) + 1;
        return entry;
    }
    void keep(setting& s) {
        const char* const value = getenv(s.name);
        if (value != nullptr) s.entry = keep(s.name, value);
    }

  private:
    size_t bytes_ = 0;
    char* at_ = nullptr;
};

void keep_settings() {
    text_memory memory;
    for (const setting& s : settings) memory.make_room(s.name);
    memory.make_room(account_of_slurm.name);
    memory.make_room("LD_PRELOAD");
    if (!memory.take()) return;
    size_t count = 0;
    for (setting& s : settings) {
        memory.keep(s);
        if (s.entry != nullptr) children[count++] = s.entry;
    }
    memory.keep(account_of_slurm);
    const std::string_view preload = own_preload(getenv("LD_PRELOAD"));
    if (!preload.empty()) children[count] = memory.keep("LD_PRELOAD", preload);
}

bool remembered = false;

void remember_environment() {
    if (remembered) return;
    remembered = true;
    calls::standard_error::remember();
    if (calls::is_task_prolog()) {  // nor are the programs that it starts
        for (const char* name : {"LD_PRELOAD", "HALCYON_LAYERS", "HALCYON_LOG"}) unsetenv(name);
        return;
    }
    keep_settings();
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
        const char* value = getenv(name);
        if (value != nullptr && rank[0] == '\0' && std::strlen(value) < sizeof rank)
            std::memcpy(rank, value, std::strlen(value));
    }
    job = coordinate::job_identity::of_environment();
}

// Now, and not at the first call: `env -i` has cleared it by then.
__attribute__((constructor)) void at_load() {
    remember_environment();
}

/// A setting that is a number above 0; otherwise `usual`.
unsigned long long number_of(const char* name, unsigned long long usual) {
    const unsigned long long set = strtoull(value_of(name), nullptr, 10);
    return set == 0 ? usual : set;
}

bool wants(const char* layer) {
    const char* list = value_of("HALCYON_LAYERS");
    const size_t wanted = std::strlen(layer);
    while (*list != '\0') {
        const size_t length = std::strcspn(list, ",");
        if (length == wanted && std::strncmp(list, layer, length) == 0) return true;
        list += length + (list[length] == ',' ? 1 : 0);
    }
    return false;
}

predict::predict_layer::settings prediction_settings() {
    predict::predict_layer::settings wanted{
        {}, value_of("HALCYON_TRACE_DIR"), value_of("HALCYON_PREDICT_SAVE"), value_of("HALCYON_PREDICT_LOAD"), rank};
    predict::model::settings& of_model = wanted.each;
    of_model.bound_bytes = number_of("HALCYON_PREDICT_MEMORY", of_model.bound_bytes);
    const auto cut_off = number_of("HALCYON_PREDICT_CUT_OFF", of_model.cut_off.distinct_values);
    of_model.cut_off.distinct_values =
        static_cast<uint32_t>(std::min<unsigned long long>(cut_off, predict::limits::most_values));
    const auto pause = number_of("HALCYON_PREDICT_LEAST_PAUSE_NS", static_cast<uint64_t>(of_model.least_pause_ns));
    of_model.least_pause_ns = static_cast<int64_t>(std::min<unsigned long long>(pause, INT64_MAX / 4));
    return wanted;
}

/// Calls pass `prefetch` first, and come back to it last, when they have been learnt.
void start_prediction(calls::layer_chain& layers, char* complaint, size_t complaint_bytes) {
    predict::predict_layer::settings learning = prediction_settings();
    const bool prefetches = wants("prefetch");
    if (prefetches) learning.tell_more = [](char* out, size_t room) { return prefetching.tell(out, room); };
    if (wants("coordinate")) {
        learning.beside_others = [](const calls::call_record& record) {
            return coordinates.load(std::memory_order_relaxed) && coordination.moved_beside_others(record);
        };
        learning.before_end = [] {
            if (coordinates) coordination.stop_forecasts();
        };
    }
    if (!prediction.start(learning, complaint, complaint_bytes)) return;
    if (prefetches) {
        predict::prefetch::reader::settings wanted;
        const auto bytes = number_of("HALCYON_PREFETCH_BYTES", static_cast<uint64_t>(wanted.most_bytes));
        wanted.most_bytes = static_cast<int64_t>(std::min<unsigned long long>(bytes, INT64_MAX / 4));
        wanted.least_probability = static_cast<double>(number_of("HALCYON_PREFETCH_PERCENT", 50)) / 100;
        wanted.always = std::strcmp(value_of("HALCYON_PREFETCH_ALWAYS"), "1") == 0;
        if (prefetching.start(wanted, prediction, complaint, complaint_bytes)) layers.add(prefetching);
    }
    layers.add(prediction);
    predicts = true;
}

coordinate::page* own_page = nullptr;
coordinate::page* page_of_parent = nullptr;

/// A chain of forks would map one page more in each process. The parent's stays: a handler that forked in the middle of
/// a call comes back to there in the child, too, and the call may look at it once more.
void keep_page(coordinate::page* opened) {
    coordinate::page_access::close(page_of_parent);
    page_of_parent = std::exchange(own_page, opened);
}

/// Gets the page of the job on this node, and first an agent, if there is none.
void start_coordination(calls::layer_chain& layers, char* complaint, size_t complaint_bytes) {
    complaint[0] = '\0';
    if (job.name[0] == '\0') {
        snprintf(complaint, complaint_bytes, "I/O is not coordinated: HALCYON_JOB is not set");
        return;
    }
    const char* const folder = value_of("HALCYON_TRACE_DIR");
    const char* const account = value_of("HALCYON_ACCOUNT");
    coordinate::page_access::settings wanted{job, value_of("HALCYON_AGENT"), value_of("HALCYON_COORDINATORS"), folder};
    wanted.patience_ms = coordinate::patience_ms(value_of("HALCYON_COORDINATE_PATIENCE_MS"));
    wanted.munge_sockets = value_of("HALCYON_MUNGE_SOCKETS");
    wanted.account = *account != '\0' ? account : value_in(account_of_slurm);
    wanted.patience = value_of("HALCYON_COORDINATE_PATIENCE_MS");
    wanted.starvation = value_of("HALCYON_COORDINATE_STARVATION_MS");
    wanted.pause = value_of("HALCYON_COORDINATE_PAUSE_MS");
    wanted.behind = value_of("HALCYON_COORDINATE_BEHIND_MS");
    coordinate::page* const page = coordinate::page_access::open(wanted, complaint, complaint_bytes);
    if (page == nullptr) return coordinate::note_uncoordinated(folder, complaint);
    keep_page(page);
    const int pid = calls::direct::process_id();
    coordinate::process_slot* const slot =
        coordinate::claim_slot(*page, coordinate::process_slot::owner_of(pid, coordinate::start_of_process(pid)));
    if (slot == nullptr) {
        // Once: there may be thousands. The agent counts them for the summary.
        if (page->refused.load(std::memory_order_relaxed) == 1)
            snprintf(complaint, complaint_bytes,
                     "I/O of some processes is not coordinated: the job has more than %zu of them on this node",
                     coordinate::page::most_processes);
        return;
    }
    const coming_io::source forecasts =
        predicts ? +[](coming_io::forecast& found) { return prediction.forecast_phases(found); } : nullptr;
    if (!coordination.start({page, slot, folder, forecasts}, complaint, complaint_bytes)) return;
    layers.add(coordination);
    coordinates = true;
}

// Streams are written after all destructors, inside the C library: what waits in them is written here, where it is
// seen. What later destructors write to them is written at once.
__attribute__((destructor)) void end_of_process() {
    if (!calls::recording() || !calls::is_own_process()) return;
    calls::shapes::flush_streams(calls::call_id::exit_flush);
    calls::shapes::stop_buffering();
    calls::tell_end(calls::ending::exit);
}

}  // namespace

const char* kept_settings::value_of(const char* name) {
    for (const setting& s : settings)
        if (std::strcmp(s.name, name) == 0) return value_in(s);
    return "";
}

void kept_settings::remember() {
    remember_environment();
}

namespace calls {

const char* const* environment_of_children() {
    return children;
}

const char* shared_folder() {
    return value_of("HALCYON_TRACE_DIR");
}

// The runtimes of sanitizers make calls before the C library has been given its environment.
bool can_start_layers() {
    return remembered || environ != nullptr;
}

void start_layers(layer_chain& layers) {
    const int saved = errno;
    const held_signals no_harm;
    layers.clear();
    remember_environment();
    if (program_records_itself()) return;
    static char complaint[observe::trace::trace_file::longest_path + 160];  // stacks may be small
    if (not_kept != nullptr) {
        snprintf(complaint, sizeof complaint,
                 "no memory to keep Halcyon's settings, of which %s is the longest, with %zu bytes: no layer is on",
                 not_kept, not_kept_bytes);
        complain(complaint);
    }
    if (wants("gate")) {
        if (gate.start({value_of("HALCYON_GATE"), value_of("HALCYON_GATE_PATH")}, complaint, sizeof complaint))
            layers.add(gate);
        else
            complain(complaint);
    }
    if (wants("trace")) {
        const observe::trace::trace_layer::settings wanted{
            value_of("HALCYON_TRACE_DIR"), value_of("HALCYON_TRACE_LOCAL"), number_of("HALCYON_TRACE_BUFFER", 8 << 20),
            std::strcmp(value_of("HALCYON_TRACE_CONTEXTS"), "1") == 0};
        if (trace.start(wanted, complaint, sizeof complaint))
            layers.add(trace);
        else
            complain(complaint);
    }
    coordinates = false;
    predicts = false;
    if (wants("predict") || wants("prefetch")) {
        start_prediction(layers, complaint, sizeof complaint);
        if (complaint[0] != '\0') complain(complaint);
    }
    if (wants("coordinate")) {
        start_coordination(layers, complaint, sizeof complaint);
        if (complaint[0] != '\0') complain(complaint);
    }
    errno = saved;
}

}  // namespace calls
}  // namespace halcyon

/// How others in this process ask for forecasts (base/io_forecast.hpp); they find it by its name.
extern "C" __attribute__((visibility("default"))) const halcyon::io_forecast::source* halcyon_io_forecast(
    uint32_t wanted) {
    static constexpr halcyon::io_forecast::source source{
        halcyon::io_forecast::version,
        [](const halcyon::io_forecast::question& asked, halcyon::io_forecast::access* accesses,
           halcyon::io_forecast::answer& found) { return halcyon::prediction.forecast(asked, accesses, found); }};
    const bool ours = halcyon::calls::recording() && halcyon::calls::is_own_process() && halcyon::predicts;
    return ours && wanted == halcyon::io_forecast::version ? &source : nullptr;
}

/// How others in this process ask for the name of its job (base/coordinated_job.hpp).
extern "C" __attribute__((visibility("default"))) const halcyon::coordinated_job::identity* halcyon_io_job(
    uint32_t wanted) {
    static halcyon::coordinated_job::identity known{};
    const bool ours = halcyon::calls::recording() && halcyon::calls::is_own_process() && halcyon::coordinates;
    if (!ours || wanted != halcyon::coordinated_job::version) return nullptr;
    snprintf(known.name, sizeof known.name, "%s", halcyon::job.name);
    snprintf(known.secret, sizeof known.secret, "%s", halcyon::job.secret);
    known.processes = halcyon::job.processes;
    known.nodes = halcyon::job.nodes;
    return &known;
}
