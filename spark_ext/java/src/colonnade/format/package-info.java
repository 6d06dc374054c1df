/**
 * The parts of the format that readers and writers share: columns and their types, bounds, regions
 * and partition transforms.
 *
 * <p>Specification: docs/spec/
 */
package colonnade.format;
