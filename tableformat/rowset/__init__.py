"""One RowSet: its blocks, indexes and footer as bytes, its reader and its writer."""
