package colonnade.read;

import colonnade.format.Slice;

/** Several stretches of a RowSet with their bytes, by column and by index in {@code stretches}. */
record Window(RowSet rowset, int[] stretches, Slice[][] bytes) {}
