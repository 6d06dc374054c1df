package colonnade.read.vector;

import colonnade.format.Malformed;
import colonnade.format.TableField;
import colonnade.format.arrow.ArrowStream;
import com.github.luben.zstd.ZstdDecompressCtx;
import java.util.List;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.FieldNode;

/**
 * Fills vectors from one record or dictionary batch, field by field in the order of its schema.
 *
 * <p>A vector uses row counts, offsets and indexes as addresses. They are therefore first compared
 * with each other and with the lengths of the buffers.
 */
public final class BatchDecoder {
  private final ArrowStream.Batch batch;
  private final ZstdDecompressCtx zstd;
  private final FieldNode node = new FieldNode();
  private final Buffer buffer = new Buffer();
  private int nextNode;
  private int nextBuffer;

  public BatchDecoder(ArrowStream.Batch batch, ZstdDecompressCtx zstd) {
    this.batch = batch;
    this.zstd = zstd;
  }

  public int rows() throws Malformed {
    long rows = batch.header().length();
    if (rows < 0 || rows > Integer.MAX_VALUE - 8) {
      throw new Malformed("the Arrow stream states " + rows + " rows");
    }
    return (int) rows;
  }

  /** Fills a vector with a field in its storage type. Skips the field if {@code target} is null. */
  public void decode(TableField field, ColonnadeVector target, int rows) throws Malformed {
    decode(field, field, target, rows);
  }

  /**
   * Fills a vector with a field of the table from the form of it that the batch has. Skips the
   * field if {@code target} is null.
   */
  public void decode(TableField field, TableField wanted, ColonnadeVector target, int rows)
      throws Malformed {
    if (target == null) {
      skip(field);
      return;
    }
    if (!Adapt.looksAlike(field, wanted)) {
      ColonnadeVector narrower = target.narrower();
      decode(field, narrower, rows);
      Adapt.widen(field, wanted, narrower, rows, target);
      return;
    }
    boolean hasNulls = loadNode(target, rows);
    switch (field.kind()) {
      case BOOLEAN -> {
        load(target.valueBytes, (rows + 7L) / 8);
        target.setLoaded(VectorForm.BITS, hasNulls);
      }
      case INT8 -> loadIntegers(target, 1, rows, hasNulls);
      case INT16 -> loadIntegers(target, 2, rows, hasNulls);
      case INT32, FLOAT32 -> loadIntegers(target, 4, rows, hasNulls);
      case INT64, FLOAT64 -> loadIntegers(target, 8, rows, hasNulls);
      case DECIMAL -> {
        load(target.valueBytes, 16L * rows);
        if (field.isShortDecimal()) {
          target.setShortDecimals(hasNulls);
        } else {
          target.setLoaded(VectorForm.WIDE, hasNulls);
        }
      }
      case UTF8, BINARY -> {
        loadOffsets(target, rows);
        load(target.valueBytes, 0);
        checkOffsets(target.offsetBytes, rows, target.valueBytes.length());
        target.setLoaded(VectorForm.TEXT, hasNulls);
      }
      case LIST, MAP -> decodeList(field, wanted, target, rows, hasNulls);
      case STRUCT -> {
        decodeStruct(field, wanted, target, rows);
        target.setLoaded(VectorForm.NESTED, hasNulls);
      }
    }
  }

  /**
   * Loads an array of values of {@code width} bytes into a vector, whose form the caller must set.
   * Returns whether any row is NULL.
   */
  public boolean loadWords(ColonnadeVector target, int width, int rows) throws Malformed {
    boolean hasNulls = loadNode(target, rows);
    load(target.valueBytes, (long) width * rows);
    return hasNulls;
  }

  private void decodeStruct(
      TableField field, TableField wanted, ColonnadeVector target, int rows) throws Malformed {
    List<TableField> stored = field.children();
    int[] places = Adapt.places(field, wanted);
    for (int i = 0; i < stored.size(); i++) {
      if (places[i] < 0) {
        skip(stored.get(i));
      } else {
        TableField child = wanted.children().get(places[i]);
        decode(stored.get(i), child, target.storedChild(places[i]), rows);
      }
    }
    if (field != wanted) {
      Adapt.showAbsentFields(wanted, places, target);
    }
  }

  private void decodeList(
      TableField field, TableField wanted, ColonnadeVector target, int rows, boolean hasNulls)
      throws Malformed {
    loadOffsets(target, rows);
    if (field.kind() == TableField.Kind.MAP) {
      // Skip the struct of the map's entries. Entries are never NULL.
      nextNode++;
      nextBuffer++;
    }
    long childRows = nodeAt(nextNode).length();
    if (childRows < 0 || childRows > Integer.MAX_VALUE - 8) {
      throw new Malformed("the Arrow stream states " + childRows + " elements");
    }
    checkOffsets(target.offsetBytes, rows, (int) childRows);
    for (int i = 0; i < field.children().size(); i++) {
      TableField child = wanted.children().get(i);
      decode(field.children().get(i), child, target.storedChild(i), (int) childRows);
    }
    target.setLoaded(VectorForm.NESTED, hasNulls);
  }

  /**
   * Loads the next node of the batch. Returns whether any row is NULL; if so, also loads the
   * validity of the vector.
   */
  public boolean loadNode(ColonnadeVector target, int rows) throws Malformed {
    FieldNode found = nodeAt(nextNode++);
    long nulls = found.nullCount();
    if (found.length() != rows || nulls < 0 || nulls > rows) {
      throw new Malformed(
          "a field of the Arrow stream has " + found.length() + " rows where " + rows
              + " are expected, " + nulls + " of them NULL");
    }
    if (nulls == 0) {
      nextBuffer++;
      return false;
    }
    load(target.validityBytes, (rows + 7L) / 8);
    return true;
  }

  private FieldNode nodeAt(int index) throws Malformed {
    if (index >= batch.header().nodesLength()) {
      throw new Malformed("the Arrow stream has too few fields");
    }
    return batch.header().nodes(node, index);
  }

  private void loadIntegers(ColonnadeVector target, int width, int rows, boolean hasNulls)
      throws Malformed {
    load(target.valueBytes, (long) width * rows);
    target.setIntegers(width, true, 0, hasNulls);
  }

  /** Loads the offsets of {@code rows} values into a vector, unchecked. */
  public void loadOffsets(ColonnadeVector target, int rows) throws Malformed {
    load(target.offsetBytes, rows == 0 ? 0 : 4L * rows + 4);
  }

  /** Loads the next buffer. Throws {@link Malformed} if it has fewer than {@code needed} bytes. */
  public void load(Bytes target, long needed) throws Malformed {
    if (nextBuffer >= batch.header().buffersLength()) {
      throw new Malformed("the Arrow stream has too few buffers");
    }
    target.load(batch, batch.header().buffers(buffer, nextBuffer++), needed, zstd);
  }

  /** Checks that offsets begin at 0 or later, never decrease, and end within {@code limit}. */
  public static void checkOffsets(Bytes offsets, int rows, int limit) throws Malformed {
    if (rows == 0) {
      return;
    }
    int before = offsets.getInt(0);
    boolean ordered = before >= 0;
    for (int i = 1; i <= rows; i++) {
      int next = offsets.getInt(i);
      ordered &= next >= before;
      before = next;
    }
    if (!ordered || before > limit) {
      throw new Malformed("the offsets of the Arrow stream do not ascend within its values");
    }
  }

  private void skip(TableField field) {
    nextNode++;
    nextBuffer += switch (field.kind()) {
      case STRUCT -> 1;
      case UTF8, BINARY -> 3;
      default -> 2;
    };
    if (field.kind() == TableField.Kind.MAP) {
      nextNode++;
      nextBuffer++;
    }
    field.children().forEach(this::skip);
  }
}
