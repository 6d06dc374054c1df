package colonnade.format.rowset;

import colonnade.format.TableField;
import colonnade.format.TableField.Kind;
import colonnade.format.TableField.Order;
import colonnade.format.arrow.ArrowForms;
import java.util.List;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;

/**
 * The sparse index of a column segment. It has one entry for each block, and the blocks lie back to
 * back.
 *
 * <p>{@code firstRows}, {@code offsets} and {@code filterOffsets} have one element more than there
 * are blocks. Their last elements are the number of rows, the length of the segment and the length
 * of all Bloom filters. The filters are stored apart from the segment.
 *
 * <p>Spec: docs/spec/rowset.md#sparse-index
 */
public record SparseIndex(
    List<BlockEntry> entries, long[] firstRows, long[] offsets, long[] filterOffsets) {
  /** The most blocks of an index, and the most stretches of a RowSet. */
  public static final int BLOCK_LIMIT = 1 << 20;

  /** A block has fewer rows and fewer bytes than this, so that their sums cannot overflow. */
  public static final long SIZE_LIMIT = 1L << 32;

  /** The columns of an index, in their stored order. */
  public enum IndexColumn {
    FIRST_ROW("first_row"),
    ROWS("rows"),
    OFFSET("offset"),
    LENGTH("length"),
    DECODED("decoded"),
    CRC32C("crc32c"),
    ENCODING("encoding"),
    BASE("base"),
    NULLS("nulls"),
    NANS("nans"),
    MIN("min"),
    MAX("max"),
    EXACT("exact"),
    FILTER_LENGTH("filter_length"),
    FILTER_CRC32C("filter_crc32c");

    private final String label;

    IndexColumn(String label) {
      this.label = label;
    }

    /** Whether a block may have NULL in this column. */
    public boolean isNullable() {
      return this == BASE || this == MIN || this == MAX;
    }

    /** Whether the values are checksums, which are unsigned integers of 32 bits. */
    public boolean isChecksum() {
      return this == CRC32C || this == FILTER_CRC32C;
    }

    /** Returns the column with the type of its values; the type of bounds depends on their order. */
    public TableField column(Order order) {
      return switch (this) {
        case ENCODING -> column("string", Kind.UTF8);
        case EXACT -> column("boolean", Kind.BOOLEAN);
        case MIN, MAX ->
            switch (order) {
              case FLOAT -> column("double", Kind.FLOAT64);
              case DECIMAL -> column("decimal(38,0)", Kind.DECIMAL);
              case STRING -> column("string", Kind.UTF8);
              case BINARY -> column("binary", Kind.BINARY);
              default -> column("long", Kind.INT64);
            };
        default -> column("long", Kind.INT64);
      };
    }

    private TableField column(String type, Kind kind) {
      return new TableField(0, label, type, kind, isNullable(), List.of());
    }

    /** Returns the field of Arrow that an index states. */
    public Field field(Order order) {
      ArrowType type = isChecksum() ? new ArrowType.Int(32, false) : ArrowForms.type(column(order));
      return new Field(label, new FieldType(isNullable(), type, null), List.of());
    }
  }

  /**
   * Returns the columns of an index. Only values with an order have bounds, and only columns with
   * bounds have Bloom filters.
   */
  public static List<IndexColumn> columns(Order order, boolean filters) {
    IndexColumn end =
        order == Order.NONE ? IndexColumn.MIN : filters ? null : IndexColumn.FILTER_LENGTH;
    List<IndexColumn> all = List.of(IndexColumn.values());
    return end == null ? all : all.subList(0, end.ordinal());
  }

  /** Creates the index of blocks that lie back to back. */
  public static SparseIndex of(List<BlockEntry> entries) {
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

  /**
   * Whether a Bloom filter may have this length in bytes. The length 0 means that the block has
   * no filter.
   */
  public static boolean isFilterLength(long length) {
    return length >= 0 && length <= BloomFilter.LIMIT && length % BloomFilter.BUCKET_BYTES == 0;
  }

  /** Whether at least one block has a Bloom filter. */
  public boolean hasFilters() {
    return filterOffsets[entries.size()] > 0;
  }
}
