"""Many entries at once, as NumPy arrays and as bytes: bounds, entry blocks and segments. Pure."""
