"""A state as stored objects: a root, its segments, and maps whose pages are read when asked for."""
