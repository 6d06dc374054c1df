/**
 * The format that readers and writers share: the types of RowSets, blocks and indexes, the names of
 * objects, Bloom filters, deletion vectors and partition transforms.
 *
 * <p>Specification: docs/spec/
 */
package colonnade.format;
