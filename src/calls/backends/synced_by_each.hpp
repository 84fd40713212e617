#pragma once

namespace halcyon::calls::backends {

/// On a thread's stack, around a call by which all processes that wrote a file together sync it (MPI_File_sync): a
/// backend's sync within it need not ask what others wrote.
class synced_by_each {
  public:
    synced_by_each() : before_(is_under_way) { is_under_way = true; }
    ~synced_by_each() { is_under_way = before_; }
    synced_by_each(const synced_by_each&) = delete;
    synced_by_each& operator=(const synced_by_each&) = delete;

    static inline constinit thread_local bool is_under_way __attribute__((tls_model("initial-exec"))) = false;

  private:
    bool before_;
};

inline bool is_synced_by_each() {
    return synced_by_each::is_under_way;
}

}  // namespace halcyon::calls::backends
