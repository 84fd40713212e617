"""The main job: one storm, several ways of output, on storage that is slow on purpose; and what each cost."""
