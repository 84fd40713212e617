#include "calls/wrappers/mpi/mpi_library.hpp"

#include <atomic>
#include <cstring>

namespace halcyon::calls::mpi {
namespace {

// MPICH's predefined handles: part of the binary interface that it shares with its descendants.
constexpr uintptr_t mpich_byte = 0x4c00010d;
constexpr uintptr_t mpich_world = 0x44000000;
constexpr uintptr_t mpich_errors_return = 0x54000001;
constexpr uintptr_t mpich_null_info = 0x1c000000;
constexpr uintptr_t mpich_int64 = 0x4c00083a;
constexpr uintptr_t mpich_maximum = 0x58000001;
constexpr uintptr_t mpich_sum = 0x58000003;

enum class family : uint8_t { open_mpi = 1, mpich, standard_abi };

handle from_number(uintptr_t value) {
    return reinterpret_cast<handle>(value);
}

#ifdef HALCYON_STATIC_IO
// Only MPICH comes as an archive.
extern "C" __attribute__((weak)) int* MPI_F_STATUS_IGNORE;
extern "C" __attribute__((weak)) int* MPI_F_STATUSES_IGNORE;
extern "C" __attribute__((weak)) char MPIR_F08_MPI_STATUS_IGNORE_OBJ[];
extern "C" __attribute__((weak)) char MPIR_F08_MPI_STATUSES_IGNORE_OBJ[];

constexpr family library_family() {
    return family::mpich;
}
void* open_mpi_byte() {
    return nullptr;
}
void* open_mpi_world() {
    return nullptr;
}
void* open_mpi_null_info() {
    return nullptr;
}
void* open_mpi_errors_return() {
    return nullptr;
}
void* open_mpi_int64() {
    return nullptr;
}
void* open_mpi_maximum() {
    return nullptr;
}
void* open_mpi_sum() {
    return nullptr;
}
bool ignored_by_fortran(const void* status) {
    return (&MPI_F_STATUS_IGNORE != nullptr && status == MPI_F_STATUS_IGNORE) ||
           (&MPI_F_STATUSES_IGNORE != nullptr && status == MPI_F_STATUSES_IGNORE) ||
           status == MPIR_F08_MPI_STATUS_IGNORE_OBJ || status == MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
}
#else
/// A variable of the library, or of the application where that has its own copy of it.
class library_variable : public library_symbol {
  public:
    constexpr explicit library_variable(const char* name) : library_symbol(name, kind::variable) {}
};

// Open MPI's predefined objects are variables, by which it is also known.
constinit library_variable ompi_mpi_byte("ompi_mpi_byte");
constinit library_variable ompi_mpi_comm_world("ompi_mpi_comm_world");
constinit library_variable ompi_mpi_errors_return("ompi_mpi_errors_return");
constinit library_variable ompi_mpi_info_null("ompi_mpi_info_null");
constinit library_variable ompi_mpi_int64_t("ompi_mpi_int64_t");
constinit library_variable ompi_mpi_op_max("ompi_mpi_op_max");
constinit library_variable ompi_mpi_op_sum("ompi_mpi_op_sum");
void* open_mpi_byte() {
    return ompi_mpi_byte.address();
}

/// Which one the process has: asked of it.
family ask_family() {
    int major = -1;
    int minor = -1;
    // -1 where the library has the functions of MPI 5, and handles of its own.
    const bool answers = ask(HALCYON_PMPI(Abi_get_version, (int*, int*)), &major, &minor) == success;
    if (answers && major >= 1) return family::standard_abi;
    return open_mpi_byte() != nullptr ? family::open_mpi : family::mpich;
}

/// Asked once, and again when a library was unloaded.
family library_family() {
    static std::atomic<uint64_t> known{0};  // the family, and above it the unloadings before
    constexpr int family_bits = 2;
    const uint64_t unloadings = library_symbol::unloadings();
    const uint64_t last = known.load(std::memory_order_relaxed);
    if (last >> family_bits == unloadings && last != unloadings << family_bits) [[likely]]
        return static_cast<family>(last & ((1 << family_bits) - 1));
    const family found = ask_family();
    known.store(unloadings << family_bits | static_cast<uint64_t>(found), std::memory_order_relaxed);
    return found;
}
void* open_mpi_null_info() {
    return ompi_mpi_info_null.address();
}
void* open_mpi_world() {
    return ompi_mpi_comm_world.address();
}
void* open_mpi_errors_return() {
    return ompi_mpi_errors_return.address();
}
void* open_mpi_int64() {
    return ompi_mpi_int64_t.address();
}
void* open_mpi_maximum() {
    return ompi_mpi_op_max.address();
}
void* open_mpi_sum() {
    return ompi_mpi_op_sum.address();
}

// What Fortran means by MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE: with Open MPI variables of one name in all three
// interfaces; with MPICH one variable of mpi_f08, and one that a pointer tells after the first call from Fortran.
constinit library_variable ompi_status("mpi_fortran_status_ignore_");
constinit library_variable ompi_statuses("mpi_fortran_statuses_ignore_");
constinit library_variable mpich_status("MPI_F_STATUS_IGNORE");
constinit library_variable mpich_statuses("MPI_F_STATUSES_IGNORE");
constinit library_variable mpich_2008_status("MPIR_F08_MPI_STATUS_IGNORE_OBJ");
constinit library_variable mpich_2008_statuses("MPIR_F08_MPI_STATUSES_IGNORE_OBJ");

bool points_to(library_variable& pointer, const void* status) {
    auto** const at = static_cast<void**>(pointer.address());
    return at != nullptr && *at == status;
}

bool ignored_by_fortran(const void* status) {
    if (open_mpi()) return status == ompi_status.address() || status == ompi_statuses.address();
    return points_to(mpich_status, status) || points_to(mpich_statuses, status) ||
           status == mpich_2008_status.address() || status == mpich_2008_statuses.address();
}
#endif

handle from_fortran(handle (*convert)(int), int value) {
    if (!open_mpi()) return from_number(static_cast<uint32_t>(value));
    return convert == nullptr ? nullptr : convert(value);
}

}  // namespace

bool open_mpi() {
    return library_family() == family::open_mpi;
}

bool handles_are_known() {
    if (library_family() != family::standard_abi) [[likely]]
        return true;
    static std::atomic<uint32_t> told{0};  // in which process
    if (told.exchange(this_process().generation) != this_process().generation) {
        this_process().layers.each([](layer& l) { l.on_absence("calls of MPI by the standard ABI of MPI 5", 1); });
    }
    return false;
}

uint64_t key_of(handle value) {
    const auto number = reinterpret_cast<uintptr_t>(value);
    return open_mpi() ? number : number & UINT32_MAX;
}

handle communicator_from_fortran(int value) {
    return from_fortran(HALCYON_FOREIGN(PMPI_Comm_f2c, handle, (int)), value);
}
handle type_from_fortran(int value) {
    return from_fortran(HALCYON_FOREIGN(PMPI_Type_f2c, handle, (int)), value);
}
handle request_from_fortran(int value) {
    return from_fortran(HALCYON_FOREIGN(PMPI_Request_f2c, handle, (int)), value);
}
handle file_from_fortran(int value) {
    const auto convert = HALCYON_FOREIGN(PMPI_File_f2c, handle, (int));
    return convert == nullptr ? nullptr : convert(value);
}

handle info_from_fortran(int value) {
    return from_fortran(HALCYON_FOREIGN(PMPI_Info_f2c, handle, (int)), value);
}

int fortran_info(handle value) {
    if (!open_mpi()) return static_cast<int>(key_of(value));
    const auto convert = HALCYON_FOREIGN(PMPI_Info_c2f, int, (handle));
    return convert == nullptr ? 0 : convert(value);
}

handle null_info() {
    return open_mpi() ? open_mpi_null_info() : from_number(mpich_null_info);
}

handle world() {
    return open_mpi() ? open_mpi_world() : from_number(mpich_world);
}

handle byte_type() {
    return open_mpi() ? open_mpi_byte() : from_number(mpich_byte);
}

handle int64_type() {
    return open_mpi() ? open_mpi_int64() : from_number(mpich_int64);
}

handle maximum() {
    return open_mpi() ? open_mpi_maximum() : from_number(mpich_maximum);
}

handle sum_of_all() {
    return open_mpi() ? open_mpi_sum() : from_number(mpich_sum);
}

handle errors_return() {
    return open_mpi() ? open_mpi_errors_return() : from_number(mpich_errors_return);
}

int64_t bytes_of_type(handle type) {
    int64_t bytes = 0;
    if (ask(HALCYON_PMPI(Type_size_x, (handle, int64_t*)), type, &bytes) == success) return bytes < 0 ? none : bytes;
    int few_bytes = 0;
    if (ask(HALCYON_PMPI(Type_size, (handle, int*)), type, &few_bytes) != success || few_bytes < 0) return none;
    return few_bytes;
}

bool is_byte(handle type) {
    return key_of(type) == key_of(byte_type());
}

size_t status_bytes() {
    return open_mpi() ? 24 : 20;
}

int64_t bytes_of_status(const void* status) {
    if (status == nullptr) return none;
    status_room copy{};  // Fortran's may be aligned to less than C's
    std::memcpy(&copy, status, status_bytes());
    const handle byte = byte_type();
    int64_t bytes = none;
    if (ask(HALCYON_PMPI(Get_elements_x, (void*, handle, int64_t*)), &copy, byte, &bytes) == success) {
        return bytes < 0 ? none : bytes;
    }
    int few_bytes = 0;
    if (ask(HALCYON_PMPI(Get_elements, (void*, handle, int*)), &copy, byte, &few_bytes) != success) return none;
    return few_bytes < 0 ? none : few_bytes;
}

bool ignores(const void* status, language spoken) {
    if (spoken == language::c) return status == (open_mpi() ? nullptr : from_number(1));
    return status == nullptr || ignored_by_fortran(status);
}

uint16_t class_of_error(int code) {
    if (code == success) return 0;
    int error_class = 0;
    if (ask(HALCYON_PMPI(Error_class, (int, int*)), code, &error_class) != success) error_class = code;
    return static_cast<uint16_t>(error_class);
}

}  // namespace halcyon::calls::mpi
