"""Many entries as NumPy arrays and as bytes: bounds, entry blocks and entry segments. Pure."""
