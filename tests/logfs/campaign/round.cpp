#include "round.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>

#include "flips.hpp"
#include "logfs/container/tools/check.hpp"
#include "logfs/container/tools/flatten.hpp"
#include "logfs/container/tools/punch.hpp"
#include "working_process.hpp"

namespace halcyon::logfs::campaign {
namespace {

constexpr int hanging_ms = 300'000;

bool is_writer(int number) {
    return number < writer_count;
}

}  // namespace

round::round(const round_settings& how, counts& into, uint64_t most_kills)
    : how_(how),
      counts_(into),
      most_kills_(most_kills),
      board_(board::make()),
      same_(board_),
      random_(mixed(how.seed, process_count)) {}

round::~round() {
    for (process& each : processes_) {
        if (each.pid > 0) {
            ::kill(each.pid, SIGKILL);
            ::waitpid(each.pid, nullptr, 0);
        }
        for (const int fd : {each.orders, each.answers})
            if (fd >= 0) ::close(fd);
    }
    board_.take_away();
}

bool round::fail(const std::string& why) {
    board_.fail("%s", why.c_str());
    return false;
}

bool round::start(int number) {
    process& one = processes_[number];
    int orders[2];
    int answers[2];
    if (::pipe2(orders, O_CLOEXEC) != 0 || ::pipe2(answers, O_CLOEXEC) != 0) return fail("no pipes");
    ++one.life;
    const bool may_die = is_writer(number) && how_.kills && most_kills_ > 0;
    one.pid = ::fork();
    if (one.pid < 0) return fail("no process can be started");
    if (one.pid == 0) {
        // Whoever is killed closes its end of the pipe: nobody else may have it.
        for (const process& each : processes_)
            for (const int fd : {each.orders, each.answers})
                if (fd >= 0) ::close(fd);
        ::close(orders[1]);
        ::close(answers[0]);
        std::unique_ptr<working_process> self;
        if (is_writer(number))
            self = std::make_unique<writing_process>(board_, how_, number, one.life, may_die);
        else
            self = std::make_unique<reading_process>(board_, how_, number, one.life, may_die);
        _exit(self->run(orders[0], answers[1]));
    }
    ::close(orders[0]);
    ::close(answers[1]);
    one.orders = orders[1];
    one.answers = answers[0];
    return true;
}

bool round::give(int number, char what) {
    process& one = processes_[number];
    one.is_busy = true;
    // Who is killed before it reads is found by its end of the other pipe.
    if (::write(one.orders, &what, 1) != 1 && errno != EPIPE) return fail("an order cannot be given");
    return true;
}

/// The one that takes its place goes on with what is left of the turn.
bool round::follow_killed(int number, char what) {
    process& one = processes_[number];
    int status = 0;
    ::waitpid(std::exchange(one.pid, -1), &status, 0);
    ::close(std::exchange(one.orders, -1));
    ::close(std::exchange(one.answers, -1));
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        return fail("process " + std::to_string(number) + " ended by itself: status " + std::to_string(status));
    place& left = board_.places[number];
    ++counts_.kills;
    if (most_kills_ > 0) --most_kills_;
    ++counts_.kills_by_step[left.last_step];
    if (left.under_way.phase == journal::begun) ++counts_.kills_in_changes;
    if (!board_.has_lock) {
        const auto file = how_.new_file();
        if (const int opened = file->open(false, false); opened < 0)
            return fail("behind a killed writer the file cannot be opened: " + file->why());
        if (!same_.resolve(left, *file, false)) return false;
    }
    if (static_cast<order>(what) == order::end) {
        one.is_busy = false;
        return true;
    }
    return start(number) && give(number, what);
}

bool round::wait_for(int first, int last, char what) {
    for (;;) {
        pollfd ends[process_count];
        int numbers[process_count];
        nfds_t count = 0;
        for (int i = first; i < last; ++i) {
            if (!processes_[i].is_busy) continue;
            ends[count] = {processes_[i].answers, POLLIN, 0};
            numbers[count++] = i;
        }
        if (count == 0) return true;
        const int ready = ::poll(ends, count, hanging_ms);
        if (ready == 0) return fail("process " + std::to_string(numbers[0]) + " hangs");
        if (ready < 0 && errno != EINTR) return fail("poll fails");
        for (nfds_t i = 0; i < count && ready > 0; ++i) {
            if (ends[i].revents == 0) continue;
            char answer = 0;
            if (::read(ends[i].fd, &answer, 1) == 1)
                processes_[numbers[i]].is_busy = false;
            else if (!follow_killed(numbers[i], what))
                return false;
        }
        if (board_.has_failed()) return false;
    }
}

bool round::order_all(char what) {
    for (int i = 0; i < process_count; ++i)
        if (!give(i, what)) return false;
    return wait_for(0, process_count, what);
}

void round::begin_turn() {
    board_.expected.end_turn();
    board_.is_over = false;
    board_.has_lock = random_() % 2 == 0;
    parts& all = board_.of_file;
    for (int i = 1; i < parts::count; ++i)
        all.edges[i] = static_cast<int64_t>(random_() % static_cast<uint64_t>(expected_file::room - parts::count));
    all.edges[parts::count] = expected_file::room;
    std::sort(all.edges, all.edges + parts::count);
    // None may be empty: then it is its neighbour's.
    for (int i = 1; i < parts::count; ++i) all.edges[i] = std::max(all.edges[i], all.edges[i - 1] + 1);
    for (int i = 0; i < parts::count; ++i)
        all.owners[i] = i < writer_count ? i : static_cast<int>(random_() % (writer_count + 1));
    for (int i = 0; i < writer_count; ++i) board_.places[i].left = how_.operations;
}

/// While others work.
void round::punch() {
    container in;
    if (!in.open(how_.path)) return;
    const auto done = punch_dead(in);
    if (!done && done.why().kind == error_kind::config)
        fail("dead extents cannot be given back: " + done.why().message);
}

bool round::play_turn() {
    begin_turn();
    const char work = static_cast<char>(order::work);
    for (int i = 0; i < process_count; ++i)
        if (!give(i, work)) return false;
    if (!how_.is_logged && random_() % 3 == 0) punch();
    if (!wait_for(0, writer_count, work)) return false;
    board_.is_over = true;
    if (!wait_for(writer_count, process_count, work)) return false;
    ++counts_.turns;
    return look(true) && order_all(static_cast<char>(order::compare));
}

/// By a reader of its own. `at_all`: what killed ones had begun is decided before.
bool round::look(bool at_all) {
    const auto file = how_.new_file();
    if (const int opened = file->open(false, false); opened < 0)
        return fail("between turns the file cannot be opened: " + file->why());
    if (at_all && !same_.resolve_all(*file, true)) return false;
    return same_.equals(*file, "between turns");
}

/// The tools agree: a kill leaves nothing that they would have to say.
bool round::look_at_container(bool flattens) {
    container in;
    if (const auto opened = in.open(how_.path); !opened) return fail(opened.why().message);
    const auto checked = check(in);
    if (!checked) return fail("check: " + checked.why().message);
    for (const check_finding& each : checked->findings)
        if (each.how != check_finding::weight::note) return fail("check: " + describe(each));
    if (!flattens) return true;
    const std::string flat = how_.path + ".flat";
    if (const auto done = flatten(in, flat); !done) return fail("flatten: " + done.why().message);
    std::ifstream file(flat, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const auto expected = board_.expected.bytes(0, board_.expected.size());
    const auto* const begin = reinterpret_cast<const char*>(expected.data());
    return text == std::string(begin, expected.size()) || fail("flatten: the plain file has other bytes");
}

std::string round::play() {
    const auto played = [&] {
        if (const auto file = how_.new_file(); file->open(true, true) < 0)
            return fail("the file cannot be created: " + file->why());
        const std::string& container_path = how_.unseen.empty() ? how_.path : how_.unseen;
        if (how_.has_container && !std::filesystem::exists(container_path + "/halcyon-container"))
            return fail(container_path + " is no container");
        for (int i = 0; i < process_count; ++i)
            if (!start(i)) return false;
        flips damage(board_, how_, counts_);
        for (int turn = 0; turn < how_.turns; ++turn) {
            if (!play_turn()) return false;
            if (!how_.is_logged && turn % 4 == 3 && !look_at_container(false)) return false;
            for (int flip = 0; how_.kills && how_.has_container && flip < 8; ++flip)
                if (!damage.flip_one(random_)) return false;
        }
        if (!order_all(static_cast<char>(order::end))) return false;
        return look(true) && (how_.is_logged || look_at_container(true));
    }();
    ++counts_.rounds;
    for (const place& each : board_.places) {
        (how_.kills ? counts_.operations_among_kills : counts_.operations) += each.done;
        counts_.reads += each.reads;
    }
    if (played) return {};
    return board_.has_failed() ? board_.text() : "failed without a reason";
}

}  // namespace halcyon::logfs::campaign
