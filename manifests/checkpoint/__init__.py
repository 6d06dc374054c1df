"""A state as stored objects: a root, segments, and maps whose pages are read on demand."""
