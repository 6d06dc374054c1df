package colonnade.encodings;

import colonnade.format.rowset.BlockEntry;

/** A block and its stored bytes. The bytes are null if the index alone describes the block. */
public record EncodedBlock(BlockEntry entry, byte[] data) {}
