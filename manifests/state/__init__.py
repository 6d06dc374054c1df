"""The state of a database after an epoch, and the fold that makes it from operations. Pure."""
