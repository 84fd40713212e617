"""Slurm: steps with Halcyon's layers (`srun --halcyon`), and jobs that Slurm announces to coordinators."""
