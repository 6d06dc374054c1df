/**
 * Arrow streams: their fields, their messages, and the buffers of a batch.
 *
 * <p>Specification: docs/spec/rowset.md
 */
package colonnade.format.arrow;
