#pragma once

#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "offload/client/mpi_agreement.hpp"
#include "offload/client/steered_parameters.hpp"

namespace halcyon::offload {

/// How all ranks have the same values of the steerable parameters in the same iteration: one broadcast of rank 0's in
/// each end_iteration, and one in open and in close. There is none in a session without steerable parameters.
///
/// Each broadcast has a number, that of the call on rank 0, and its values belong to the call of this number on all
/// ranks. Ranks may end different numbers of iterations. One that closes earlier takes what is still to come, and one
/// that goes on after rank 0 closed has its last values: the broadcast of close has a number above all others. Where
/// MPI fails in a call, the values of this rank stay as they are, and the next call goes on with its own number.
class steering_round {
  public:
    /// Both outlive it.
    steering_round(const communicator& all, steered_parameters& values);

    /// Collective, unless MPI does not run any more: then the values stay. They are those of `iteration` and later
    /// ones.
    result<void> exchange(int64_t iteration);
    /// Collective, once, before the other collective calls of close.
    result<void> end();

  private:
    result<void> send(int64_t number);
    result<void> receive_up_to(int64_t number);
    result<void> broadcast();

    const communicator& all_;
    steered_parameters& values_;
    bool is_root_, is_alone_;
    int64_t next_ = 0;              ///< the number of the next call
    int64_t got_ = -1;              ///< the number of the last broadcast
    std::vector<int64_t> message_;  ///< its number, then the bits of the values
    std::vector<double> received_;
};

}  // namespace halcyon::offload
