#include "working_process.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <cinttypes>

namespace halcyon::logfs::campaign {

working_process::working_process(board& of, const round_settings& how, int number, uint64_t life, bool may_die)
    : board_(of),
      place_(of.places[number]),
      number_(number),
      comparison_(of),
      how_(how),
      who_((number < writer_count ? "writer " : "reader ") + std::to_string(number) + ", life " + std::to_string(life)),
      random_(mixed(how.seed, number, life)),
      death_(place_) {
    const bool by_clock = below(4) == 0 || how.is_logged;
    if (may_die) death_.draw(random_, by_clock);
    death_.watch(calls_);
}

int working_process::run(int orders, int answers) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    file_ = how_.new_file(calls_);
    if (!open()) return 1;
    for (;;) {
        char word = 0;
        if (::read(orders, &word, 1) != 1) return 2;
        if (!do_it(static_cast<order>(word))) return 1;
        if (::write(answers, &word, 1) != 1) return 2;
        if (static_cast<order>(word) == order::end) return 0;
    }
}

bool working_process::do_it(order what) {
    if (what == order::compare) return went(file_->refresh(), "refresh") && comparison_.equals(*file_, who());
    if (what == order::work) return work();
    return went(file_->close(), "close");
}

bool working_process::went(int64_t outcome, const char* call) {
    if (outcome >= 0) return true;
    board_.fail("%s: %s fails: errno %" PRId64 " %s", who(), call, -outcome, file_->why().c_str());
    return false;
}

bool working_process::open() {
    return went(file_->open(may_write(), false), "open");
}

bool working_process::open_again() {
    return went(file_->close(), "close") && open();
}

bool working_process::lock() {
    return went(file_->lock(), "lock") && comparison_.resolve_all(*file_, true);
}

bool working_process::look_anywhere() {
    const int64_t length = between(1, below(8) == 0 ? expected_file::room : 3000);
    const int64_t offset = between(0, expected_file::room - length);
    ++place_.reads;
    return comparison_.is_allowed(*file_, offset, length, who());
}

bool reading_process::work() {
    if (!went(file_->refresh(), "refresh")) return false;
    while (!board_.is_over) {
        const uint64_t what = below(32);
        if (what == 0) {
            if (!open_again()) return false;
        } else if (what < 3 && board_.has_lock) {
            if (!lock() || !comparison_.equals(*file_, who()) || !unlock()) return false;
        } else if (what < 16) {
            if (!went(file_->refresh(), "refresh")) return false;
        }
        if (!look_anywhere()) return false;
    }
    return true;
}

}  // namespace halcyon::logfs::campaign
