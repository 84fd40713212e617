# PkgConfig::FUSE3: `halcyon mount` shows containers as plain files by it. Without it that program alone is not built.
# 3.12 is the first one in which the number of threads can be set.
pkg_check_modules(FUSE3 IMPORTED_TARGET fuse3>=3.12)
