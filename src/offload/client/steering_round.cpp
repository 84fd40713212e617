#include "offload/client/steering_round.hpp"

#include <bit>
#include <limits>

namespace halcyon::offload {
namespace {

constexpr int64_t last_number = std::numeric_limits<int64_t>::max();

}  // namespace

steering_round::steering_round(const communicator& all, steered_parameters& values)
    : all_(all),
      values_(values),
      is_root_(all.rank() == 0),
      is_alone_(all.size() == 1),
      message_(values.count() + 1),
      received_(values.count()) {}

result<void> steering_round::exchange(int64_t iteration) {
    const int64_t number = next_++;
    if (!mpi_runs()) return {};
    if (is_root_) {
        const auto taken = contained("", [&] { return values_.take_requests(iteration); });
        const auto sent = send(number);
        return taken ? sent : taken;
    }
    if (auto got = receive_up_to(number); !got || got_ != number) return got;
    for (size_t i = 0; i < received_.size(); ++i) received_[i] = std::bit_cast<double>(message_[i + 1]);
    return values_.set_values(received_);
}

result<void> steering_round::end() {
    return is_root_ ? send(last_number) : receive_up_to(last_number);
}

result<void> steering_round::send(int64_t number) {
    values_.copy_values(received_);
    message_[0] = number;
    for (size_t i = 0; i < received_.size(); ++i) message_[i + 1] = std::bit_cast<int64_t>(received_[i]);
    return broadcast();
}

result<void> steering_round::receive_up_to(int64_t number) {
    while (got_ < number) {
        if (auto done = broadcast(); !done) return done;
        got_ = message_[0];
    }
    return {};
}

result<void> steering_round::broadcast() {
    if (is_alone_) return {};
    return outcome_of(MPI_Bcast(message_.data(), static_cast<int>(message_.size()), MPI_INT64_T, 0, all_.get()),
                      "MPI_Bcast of the steerable parameters");
}

}  // namespace halcyon::offload
