/// How long 100 applications wait for the coordinator's answer to 'an I/O phase begins', asking 5,000 times a second
/// together: grant, or wait and for how long. Over a bare epoll loop that sends the same lines back, at the
/// same rate, in the same rounds and on the same core: the 99th percentile of each round. The control asks that very
/// loop once more. Rounds are long, since a percentile is as steady as there are answers above it; and questions go to
/// one after the other for a fifth of a second, twenty turns long, so that a disturbance of the machine hits all. Where
/// other guests slow the processor for more than a hundredth of the time, the percentile is that of answers in such
/// spells: the median of those of the slices tells what it is outside of them.
/// Neither side's time holds what its client does: lines are written before they are due, and read after they have
/// come.
///
/// Application after application asks. One that has to wait gives up at once, one that is granted the turn
/// has it for 10 ms: most questions find somebody who has the turn, and each leads to a decision by `dynamic` and, with
/// the release behind it, to another one.

#include "asked_server.hpp"
#include "coordinate/protocol/json.hpp"

namespace {

using namespace halcyon;
using namespace halcyon::bench;

constexpr int wanted = 10;  // rounds
constexpr size_t applications = 100;
constexpr size_t slices = 20, questions = 1000;  // of each kind in a round, and in each slice
constexpr int64_t every_ns = 200'000;
constexpr int64_t turn_ns = 10'000'000;

std::string line_of(const coordinate::to_coordinator& message) {
    return std::get<std::string>(coordinate::encode(message));
}

coordinate::inform phase_begins(uint64_t phase) {
    coordinate::inform what;
    what.phase = phase;
    what.bytes_left = int64_t{1} << 30U;
    what.alone_s = what.left_s = 1;
    return what;
}

class coordinator_process : public asked_server {
  public:
    explicit coordinator_process(const std::string& path) : asked_server(path, applications) {
        due_ns_.assign(applications, 0);
        for (size_t who = 0; who < applications; ++who) {
            coordinate::registration what;
            what.job = "job" + std::to_string(who);
            what.node = "n" + std::to_string(who);
            what.secret = "the secret of " + what.job;
            say(who, line_of(what));
        }
        for (const int64_t begin = monotonic_ns(); registered_ < applications;) {
            hear();
            if (since(begin) > 10'000'000'000) stop("the coordinator does not register");
        }
        phases_.assign(applications, 0);
        next_.assign(applications, line_of(phase_begins(1)));
    }
    /// How long they took since the latest forget(), in ns.
    [[nodiscard]] const samples& grants() const { return grants_; }
    [[nodiscard]] const samples& waits() const { return waits_; }
    void forget() {
        grants_ = {};
        waits_ = {};
    }

  private:
    void question(size_t who) override {
        if (holder_ == who) give_back();
        ++phases_[who];
        say(who, next_[who]);
    }
    void between_questions() override {
        if (holder_ < applications && since(granted_ns_) > turn_ns) give_back();
    }
    void heard(size_t who, std::string_view line) override {
        const auto message = coordinate::decode_from_coordinator(line);
        const auto& said = std::get<coordinate::from_coordinator>(message);
        if (std::holds_alternative<coordinate::registered>(said)) ++registered_;
        if (const auto* const asked = std::get_if<coordinate::recall>(&said)) {
            say(who, line_of(coordinate::stopped{asked->lease}));
            if (who == holder_) give_back();
        }
        if (!asks(who)) return;
        if (std::holds_alternative<coordinate::grant>(said)) {
            grants_.add(answered(who));
            if (holder_ < applications) give_back();
            holder_ = who;
            granted_ns_ = monotonic_ns();
        } else if (std::holds_alternative<coordinate::wait>(said)) {
            waits_.add(answered(who));
            say(who, line_of(coordinate::release{phases_[who]}));
        }
        next_[who] = line_of(phase_begins(phases_[who] + 1));
    }
    void give_back() {
        say(holder_, line_of(coordinate::release{phases_[holder_]}));
        holder_ = applications;
    }

    size_t registered_ = 0;
    samples grants_, waits_;
    std::vector<uint64_t> phases_;
    std::vector<std::string> next_;  ///< what each asks next
    size_t holder_ = applications;   ///< none
    int64_t granted_ns_ = 0;
};

class echo_process : public asked_server {
  public:
    explicit echo_process(const std::string& path)
        : asked_server(path, applications), line_(line_of(phase_begins(1))) {}

  private:
    void question(size_t who) override { say(who, line_); }
    void heard(size_t who, std::string_view) override {
        if (asks(who)) answered(who);
    }

    std::string line_;
};

double slow_one(const std::vector<double>& took_ns) {
    samples all;
    for (const double one : took_ns) all.add(one);
    return all.quantile(0.99);
}

[[noreturn]] void become_coordinator(const std::string& path) {
    const std::string address = "unix:" + path;
    ::execl(HALCYON_COORDINATOR_PROGRAM, "halcyon-coordinator", "--address", address.c_str(), nullptr);
    stop(HALCYON_COORDINATOR_PROGRAM);
}

void run() {
    const auto server_core = take_first_core();
    rise_above_other_programs();
    const socket_folder folder;
    const std::string at = folder / "coordinator", bare_at = folder / "echo";
    const child_process daemon([&] { become_coordinator(at); }), bare([&] { echo(bare_at); });
    for (const pid_t pid : {daemon.pid(), bare.pid()}) bind_to(pid, server_core);
    coordinator_process coordinator(at);
    echo_process reference(bare_at);
    asked_server* const servers[] = {&coordinator, &reference, &reference};
    for (rounds r(wanted); r.next();) {
        interleaved answers, of_slices;
        coordinator.forget();
        for (size_t slice = 0; slice < slices; ++slice) {
            std::vector<double> took[3];
            for (size_t i = 0; i < 3; ++i) {
                const size_t what = (i + slice) % 3;
                took[what] = servers[what]->ask(questions, every_ns);
                r.require("every question is asked in time", servers[what]->not_asked() == 0,
                          std::to_string(servers[what]->not_asked()));
            }
            for (size_t i = 0; i < questions; ++i) answers.add(took[0][i], took[1][i], took[2][i]);
            of_slices.add(slow_one(took[0]), slow_one(took[1]), slow_one(took[2]));
            // The kernel takes the core from a process of real-time priority that has spun for most of a second.
            ::usleep(80'000);
        }
        answers.ratio(r, "request_ratio", 0.99);
        r.value("request_p99_ns", answers.measured(0.99), "ns");
        r.value("request_p99_ns_echo", answers.reference(0.99), "ns");
        answers.ratio(r, "request_median_ratio");
        r.value("request_slice_ratio", of_slices.measured() / of_slices.reference(), "ratio");
        r.value("request_slice_ratio_control", of_slices.control(), "ratio");
        const auto &grants = coordinator.grants(), &waits = coordinator.waits();
        r.require("most questions find somebody who has the turn", waits.count() > grants.count() && grants.count() > 0,
                  std::to_string(grants.count()) + " grants, " + std::to_string(waits.count()) + " waits");
        // Which of the two are the slow ones.
        r.value("request_median_ns_grants", grants.median(), "ns");
        r.value("request_median_ns_waits", waits.median(), "ns");
        r.value("request_p99_ns_waits", waits.quantile(0.99), "ns");
    }
}

}  // namespace

int main() {
    return run_benchmark(run);
}
