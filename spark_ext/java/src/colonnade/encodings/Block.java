package colonnade.encodings;

import colonnade.format.TableField;
import colonnade.format.arrow.ArrowForms;
import colonnade.format.rowset.BlockEntry;
import colonnade.read.vector.BatchDecoder;
import colonnade.read.vector.Bytes;
import colonnade.read.vector.ColonnadeVector;
import java.util.function.BiFunction;
import org.apache.arrow.flatbuf.Field;

/**
 * A block to decode.
 *
 * @param target the vector to fill
 * @param field the field of the stream; null if the block has no bytes
 * @param batch the rows of the stream; null if the block has no bytes
 * @param dictionary the dictionary of the stream, or null
 * @param scratch a buffer for temporary use
 */
record Block(
    TableField column,
    BlockEntry entry,
    ColonnadeVector target,
    Field field,
    BatchDecoder batch,
    BatchDecoder dictionary,
    Bytes scratch) {
  /** Returns the width in bytes that gives an encoding the form of the stream; 0 for none. */
  int width(
      BiFunction<TableField, Integer, org.apache.arrow.vector.types.pojo.Field> form,
      int... widths) {
    for (int width : widths) {
      if (ArrowForms.matches(field, form.apply(column, width))) {
        return width;
      }
    }
    return 0;
  }
}
