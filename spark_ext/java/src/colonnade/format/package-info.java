/**
 * The parts of the format that readers and writers share: RowSets, blocks, indexes, object names,
 * statistics, Bloom filters, deletion vectors and partition transforms.
 *
 * <p>Specification: docs/spec/
 */
package colonnade.format;
