"""A reader and a small writer that know the specification alone, beside the product.

Their author saw the pages and the schema in `docs/spec/` and the golden databases, and no source.
They import nothing of Colonnade. What they cannot do, a page does not say.
"""
