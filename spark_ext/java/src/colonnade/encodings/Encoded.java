package colonnade.encodings;

import colonnade.format.arrow.ArrowBatch;
import org.apache.arrow.vector.types.pojo.Field;

/**
 * An encoded block before it becomes bytes.
 *
 * @param field the field of its stream; null if the index alone describes the block
 * @param base what the index states as the base of its values, or null
 * @param dictionary the dictionary of the stream, or null
 * @param size the bytes that decide whether the stream is compressed
 */
record Encoded(Field field, Long base, ArrowBatch dictionary, long size) {
  static final Encoded WITHOUT_BYTES = new Encoded(null, null, null, 0);
}
