"""A cluster on one machine: network namespaces as hosts, links with token buckets, GlusterFS, Slurm."""
