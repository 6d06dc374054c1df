"""One RowSet: blocks, indexes and the footer as bytes, its reader and its writer."""
