/**
 * Bloom filters of blocks, for readers and writers alike.
 *
 * <p>Specification: docs/spec/rowset.md#bloom-filters
 */
package colonnade.bloom;
