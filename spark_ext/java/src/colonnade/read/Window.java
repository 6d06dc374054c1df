package colonnade.read;

import colonnade.format.Slice;

/** Some stretches of a RowSet with their bytes, by column and by place in {@code stretches}. */
record Window(RowSet rowset, int[] stretches, Slice[][] bytes) {}
