#include "base/line_socket/peer_check.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace halcyon {

result<std::unique_ptr<peer_check>> peer_check::start(std::optional<munge> authority, size_t most_waiting) {
    descriptor ready(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!ready) return system_failure("eventfd", errno);
    std::unique_ptr<peer_check> made(new peer_check(std::move(authority), most_waiting, std::move(ready)));
    try {
        made->thread_ = std::thread([check = made.get()] { check->run(); });
    } catch (const std::system_error& e) {
        return system_failure("thread", e.code().value());
    }
    return made;
}

peer_check::peer_check(std::optional<munge> authority, size_t most_waiting, descriptor ready)
    : authority_(std::move(authority)), most_waiting_(most_waiting), ready_(std::move(ready)) {}

peer_check::~peer_check() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    asked_.notify_one();
    if (thread_.joinable()) thread_.join();
}

bool peer_check::ask(uint64_t connection, tcp_challenge challenge, std::string answer) {
    {
        const std::lock_guard lock(mutex_);
        if (questions_.size() >= most_waiting_) return false;
        questions_.push_back({connection, std::move(challenge), std::move(answer)});
    }
    asked_.notify_one();
    return true;
}

std::vector<peer_check::verdict> peer_check::collect() {
    uint64_t count = 0;
    static_cast<void>(!::read(ready_.get(), &count, sizeof count));
    const std::lock_guard lock(mutex_);
    return std::exchange(verdicts_, {});
}

/// False: to end.
bool peer_check::take(question& q) {
    std::unique_lock lock(mutex_);
    asked_.wait(lock, [this] { return stopping_ || !questions_.empty(); });
    if (stopping_) return false;
    q = std::move(questions_.front());
    questions_.pop_front();
    return true;
}

void peer_check::run() {
    question q;
    while (take(q)) {
        auto peer = check_answer(q.challenge, q.answer, authority_ ? &*authority_ : nullptr);
        {
            const std::lock_guard lock(mutex_);
            verdicts_.push_back({q.connection, std::move(peer)});
        }
        const uint64_t one = 1;
        static_cast<void>(!::write(ready_.get(), &one, sizeof one));
    }
}

}  // namespace halcyon
