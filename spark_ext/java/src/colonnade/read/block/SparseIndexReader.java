package colonnade.read.block;

import colonnade.format.Bound;
import colonnade.format.Malformed;
import colonnade.format.Slice;
import colonnade.format.TableField;
import colonnade.format.TableField.Order;
import colonnade.format.arrow.ArrowForms;
import colonnade.format.arrow.ArrowStream;
import colonnade.format.rowset.BlockEntry;
import colonnade.format.rowset.SparseIndex;
import colonnade.format.rowset.SparseIndex.IndexColumn;
import colonnade.format.rowset.Statistics;
import colonnade.read.vector.BatchDecoder;
import colonnade.read.vector.ColonnadeVector;
import com.github.luben.zstd.ZstdDecompressCtx;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.apache.arrow.flatbuf.Schema;
import org.apache.spark.sql.types.BinaryType$;
import org.apache.spark.sql.types.BooleanType$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType$;
import org.apache.spark.sql.types.LongType$;
import org.apache.spark.sql.types.StringType$;

/** Decodes sparse indexes. Spec: docs/spec/rowset.md#sparse-index */
final class SparseIndexReader {
  private static final long LIMIT = 1L << 30;

  private SparseIndexReader() {}

  /**
   * Decodes an index. Requires: its checksum has been verified.
   *
   * @param order the order of the column's values
   * @param filters whether at least one block has a Bloom filter
   * @throws Malformed if the bytes are not an index of such a column
   */
  static SparseIndex decode(Slice data, Order order, boolean filters, ZstdDecompressCtx zstd)
      throws Malformed {
    ArrowStream stream = ArrowStream.parse(data, LIMIT);
    List<IndexColumn> columns = SparseIndex.columns(order, filters);
    try {
      checkSchema(stream.schema(), order, columns);
      return decode(stream, order, columns, zstd);
    } catch (RuntimeException error) {
      throw new Malformed("it cannot be read", error);
    }
  }

  private static SparseIndex decode(
      ArrowStream stream, Order order, List<IndexColumn> columns, ZstdDecompressCtx zstd)
      throws Malformed {
    BatchDecoder batch = new BatchDecoder(stream.batch(), zstd);
    int rows = batch.rows();
    if (rows > SparseIndex.BLOCK_LIMIT) {
      throw new Malformed(
          "it describes " + rows + " blocks; " + SparseIndex.BLOCK_LIMIT + " are the most");
    }
    Map<IndexColumn, ColonnadeVector> vectors = new EnumMap<>(IndexColumn.class);
    for (IndexColumn column : columns) {
      TableField field = column.column(order);
      ColonnadeVector vector = new ColonnadeVector(sparkType(field));
      if (column.isChecksum()) {
        vector.setIntegers(4, false, 0, batch.loadWords(vector, 4, rows));
      } else {
        batch.decode(field, vector, rows);
      }
      if (vector.hasNull() && !column.isNullable()) {
        throw new Malformed("it has NULL where a value is required");
      }
      vectors.put(column, vector);
    }
    List<BlockEntry> entries = new ArrayList<>();
    for (int row = 0; row < rows; row++) {
      entries.add(entry(vectors, row, order));
    }
    SparseIndex index = SparseIndex.of(entries);
    check(index, vectors.get(IndexColumn.FIRST_ROW), vectors.get(IndexColumn.OFFSET));
    return index;
  }

  private static void check(SparseIndex index, ColonnadeVector firstRows, ColonnadeVector offsets)
      throws Malformed {
    int blocks = index.entries().size();
    for (int i = 0; i < blocks; i++) {
      BlockEntry entry = index.entries().get(i);
      if (entry.rows() < 1
          || entry.rows() >= SparseIndex.SIZE_LIMIT
          || entry.length() < 0
          || entry.length() >= SparseIndex.SIZE_LIMIT
          || !SparseIndex.isFilterLength(entry.filterLength())) {
        throw new Malformed("it describes an impossible block");
      }
      if (index.firstRows()[i] != firstRows.getLong(i)
          || index.offsets()[i] != offsets.getLong(i)) {
        throw new Malformed("its blocks do not lie back to back");
      }
    }
    if (blocks == 0) {
      throw new Malformed("it describes no block");
    }
  }

  private static BlockEntry entry(Map<IndexColumn, ColonnadeVector> columns, int row, Order order) {
    Bound low = null;
    Bound high = null;
    boolean exact = false;
    if (order != Order.NONE) {
      ColonnadeVector lows = columns.get(IndexColumn.MIN);
      ColonnadeVector highs = columns.get(IndexColumn.MAX);
      boolean known = !lows.isNullAt(row) && !highs.isNullAt(row);
      low = known ? bound(lows, row, order) : null;
      high = known ? bound(highs, row, order) : null;
      exact = columns.get(IndexColumn.EXACT).getBoolean(row);
    }
    long nulls = columns.get(IndexColumn.NULLS).getLong(row);
    long nans = columns.get(IndexColumn.NANS).getLong(row);
    ColonnadeVector bases = columns.get(IndexColumn.BASE);
    boolean filters = columns.containsKey(IndexColumn.FILTER_LENGTH);
    return new BlockEntry(
        columns.get(IndexColumn.ROWS).getLong(row),
        columns.get(IndexColumn.LENGTH).getLong(row),
        columns.get(IndexColumn.DECODED).getLong(row),
        columns.get(IndexColumn.CRC32C).getLong(row),
        columns.get(IndexColumn.ENCODING).getUTF8String(row).toString(),
        bases.isNullAt(row) ? null : (Long) bases.getLong(row),
        new Statistics(nulls, nans, low, high, exact),
        filters ? columns.get(IndexColumn.FILTER_LENGTH).getLong(row) : 0,
        filters ? columns.get(IndexColumn.FILTER_CRC32C).getLong(row) : 0);
  }

  private static Bound bound(ColonnadeVector column, int row, Order order) {
    return switch (order) {
      case FLOAT -> new Bound.Real(column.getDouble(row));
      case DECIMAL ->
          new Bound.Whole(column.getDecimal(row, 38, 0).toJavaBigDecimal().unscaledValue());
      // The vector's bytes are shared by all blocks, so a bound needs its own copy.
      case STRING -> new Bound.Text(column.getUTF8String(row).clone());
      case BINARY -> new Bound.Raw(column.getBinary(row));
      default -> Bound.Whole.of(column.getLong(row));
    };
  }

  private static void checkSchema(Schema schema, Order order, List<IndexColumn> columns)
      throws Malformed {
    boolean same = schema.fieldsLength() == columns.size();
    for (int i = 0; same && i < columns.size(); i++) {
      same = ArrowForms.matches(schema.fields(i), columns.get(i).field(order));
    }
    if (!same) {
      throw new Malformed("its columns are not those of an index of this column type");
    }
  }

  private static DataType sparkType(TableField field) {
    return switch (field.kind()) {
      case UTF8 -> StringType$.MODULE$;
      case BINARY -> BinaryType$.MODULE$;
      case BOOLEAN -> BooleanType$.MODULE$;
      case FLOAT64 -> DoubleType$.MODULE$;
      case DECIMAL -> new DecimalType(38, 0);
      default -> LongType$.MODULE$;
    };
  }
}
