"""Commands that keep tables fast and sound, a module each: the panel Care of the help."""
