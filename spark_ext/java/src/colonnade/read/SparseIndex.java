package colonnade.read;

import colonnade.format.ArrowSchema;
import colonnade.format.BloomFilter;
import colonnade.format.Malformed;
import colonnade.format.Slice;
import colonnade.format.StoredField.Kind;
import colonnade.format.StoredField.Order;
import colonnade.format.StoredField;
import com.github.luben.zstd.ZstdDecompressCtx;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.Schema;
import org.apache.arrow.flatbuf.Type;
import org.apache.spark.sql.types.BinaryType$;
import org.apache.spark.sql.types.BooleanType$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType$;
import org.apache.spark.sql.types.LongType$;
import org.apache.spark.sql.types.StringType$;

/**
 * The blocks of a column segment, which lie back to back.
 *
 * <p>{@code firstRows}, {@code offsets} and {@code filterOffsets} (of the Bloom filters, which lie
 * elsewhere) have one element more than there are blocks: the rows and the bytes of the segment,
 * and the bytes of all filters.
 *
 * <p>Spec: docs/spec/rowset.md#sparse-index
 */
public record SparseIndex(
    List<BlockEntry> entries, long[] firstRows, long[] offsets, long[] filterOffsets) {
  private static final long LIMIT = 1L << 30;

  /** The first of the columns about filters. */
  private static final int FILTERS_AT = 13;

  private static final Set<String> ENCODINGS =
      Set.of("plain", "dictionary", "narrowed", "lengths", "constant", "null");

  private static final List<String> NAMES =
      List.of(
          "first_row", "rows", "offset", "length", "decoded", "crc32c", "encoding", "base",
          "nulls", "nans", "min", "max", "exact", "filter_length", "filter_crc32c");

  static SparseIndex of(List<BlockEntry> entries) {
    long[] rows = new long[entries.size() + 1];
    long[] offsets = new long[entries.size() + 1];
    long[] filters = new long[entries.size() + 1];
    for (int i = 0; i < entries.size(); i++) {
      rows[i + 1] = rows[i] + entries.get(i).rows();
      offsets[i + 1] = offsets[i] + entries.get(i).length();
      filters[i + 1] = filters[i] + entries.get(i).filterLength();
    }
    return new SparseIndex(List.copyOf(entries), rows, offsets, filters);
  }

  /** Whether a Bloom filter may have so many bytes; 0 is none at all. */
  public static boolean isFilterLength(long length) {
    return length >= 0 && length <= BloomFilter.LIMIT && length % BloomFilter.BUCKET_BYTES == 0;
  }

  /** Reads an index, whose checksum was compared, of blocks of which some have filters or none. */
  static SparseIndex decode(Slice data, Order order, boolean filters, ZstdDecompressCtx zstd)
      throws Malformed {
    ArrowStream stream = ArrowStream.parse(data, LIMIT, LIMIT);
    int count = count(order, filters);
    try {
      checkSchema(stream.schema(), order, count);
      return decode(stream, order, count, zstd);
    } catch (RuntimeException error) {
      throw new Malformed("it cannot be read", error);
    }
  }

  private static SparseIndex decode(
      ArrowStream stream, Order order, int count, ZstdDecompressCtx zstd) throws Malformed {
    BatchDecoder batch = new BatchDecoder(stream.batch(), zstd);
    int rows = batch.rows();
    ColonnadeVector[] columns = new ColonnadeVector[count];
    for (int i = 0; i < columns.length; i++) {
      columns[i] = new ColonnadeVector(sparkType(i, order));
      if (isChecksum(i)) {
        batch.decodeNarrowed(columns[i], 4, rows, 0);
      } else {
        batch.decode(field(i, order), columns[i], rows);
      }
      if (columns[i].hasNull() && !isNullable(i)) {
        throw new Malformed("it has NULL where a value must be");
      }
    }
    List<BlockEntry> entries = new ArrayList<>();
    for (int row = 0; row < rows; row++) {
      entries.add(entry(columns, row, order));
    }
    SparseIndex index = of(entries);
    for (int row = 0; row < rows; row++) {
      BlockEntry entry = entries.get(row);
      if (entry.rows() < 1
          || entry.length() < 0
          || !ENCODINGS.contains(entry.encoding())
          || !isFilterLength(entry.filterLength())) {
        throw new Malformed("it describes a block that cannot be");
      }
      if (index.firstRows[row] != columns[0].getLong(row)
          || index.offsets[row] != columns[2].getLong(row)) {
        throw new Malformed("its blocks do not lie back to back");
      }
    }
    if (rows == 0) {
      throw new Malformed("it describes no block");
    }
    return index;
  }

  private static BlockEntry entry(ColonnadeVector[] columns, int row, Order order) {
    Object low = null;
    Object high = null;
    boolean exact = false;
    if (order != Order.NONE) {
      boolean known = !columns[10].isNullAt(row) && !columns[11].isNullAt(row);
      low = known ? bound(columns[10], row, order) : null;
      high = known ? bound(columns[11], row, order) : null;
      exact = columns[12].getBoolean(row);
    }
    Statistics statistics =
        new Statistics(columns[8].getLong(row), columns[9].getLong(row), low, high, exact);
    return new BlockEntry(
        columns[1].getLong(row),
        columns[3].getLong(row),
        columns[4].getLong(row),
        columns[5].getLong(row),
        columns[6].getUTF8String(row).toString(),
        columns[7].isNullAt(row) ? null : columns[7].getLong(row),
        statistics,
        columns.length > FILTERS_AT ? columns[FILTERS_AT].getLong(row) : 0,
        columns.length > FILTERS_AT ? columns[FILTERS_AT + 1].getLong(row) : 0);
  }

  private static Object bound(ColonnadeVector column, int row, Order order) {
    return switch (order) {
      case INTEGER -> column.getLong(row);
      case FLOAT -> column.getDouble(row);
      case DECIMAL -> unscaled(column, row);
      // A copy: the bytes of the vector are those of all blocks.
      default -> column.getUTF8String(row).clone();
    };
  }

  private static BigInteger unscaled(ColonnadeVector column, int row) {
    return column.getDecimal(row, 38, 0).toJavaBigDecimal().unscaledValue();
  }

  /** Only columns with an order have bounds, and only of these some have filters. */
  private static int count(Order order, boolean filters) {
    return order == Order.NONE ? FILTERS_AT - 3 : filters ? NAMES.size() : FILTERS_AT;
  }

  private static boolean isNullable(int column) {
    return column == 7 || column == 10 || column == 11;
  }

  private static void checkSchema(Schema schema, Order order, int count) throws Malformed {
    boolean same = schema.fieldsLength() == count;
    for (int i = 0; same && i < count; i++) {
      Field field = schema.fields(i);
      same =
          NAMES.get(i).equals(field.name())
              && field.nullable() == isNullable(i)
              && field.dictionary() == null
              && (isChecksum(i) ? isChecksum(field) : ArrowSchema.hasType(field, field(i, order)));
    }
    if (!same) {
      throw new Malformed("its columns are not those of an index of this column type");
    }
  }

  private static boolean isChecksum(int column) {
    return column == 5 || column == FILTERS_AT + 1;
  }

  private static boolean isChecksum(Field field) {
    if (field.typeType() != Type.Int) {
      return false;
    }
    Int type = (Int) field.type(new Int());
    return type.bitWidth() == 32 && !type.isSigned();
  }

  private static StoredField field(int column, Order order) {
    return switch (column) {
      case 6 -> primitive("string", Kind.UTF8);
      case 12 -> primitive("boolean", Kind.BOOLEAN);
      case 10, 11 -> switch (order) {
        case FLOAT -> primitive("double", Kind.FLOAT64);
        case DECIMAL -> primitive("decimal(38,0)", Kind.DECIMAL);
        case STRING -> primitive("string", Kind.UTF8);
        case BINARY -> primitive("binary", Kind.BINARY);
        default -> primitive("long", Kind.INT64);
      };
      default -> primitive("long", Kind.INT64);
    };
  }

  private static StoredField primitive(String type, Kind kind) {
    return new StoredField(0, "", type, kind, List.of());
  }

  private static DataType sparkType(int column, Order order) {
    return switch (field(column, order).kind()) {
      case UTF8 -> StringType$.MODULE$;
      case BINARY -> BinaryType$.MODULE$;
      case BOOLEAN -> BooleanType$.MODULE$;
      case FLOAT64 -> DoubleType$.MODULE$;
      case DECIMAL -> new DecimalType(38, 0);
      default -> LongType$.MODULE$;
    };
  }
}
