/**
 * Encodings of blocks. {@code BlockEncoder} makes bytes and an index entry of staged rows, and {@code
 * BlockDecoder} makes a vector of these. Each encoding is one class, and one row of {@code
 * Encodings}.
 *
 * <p>Spec: docs/spec/rowset.md#encodings
 */
package colonnade.encodings;
