package colonnade.write.rowset;

import colonnade.encodings.BlockEncoder;
import colonnade.format.Bound;
import colonnade.format.TableField.Order;
import colonnade.format.arrow.ArrowBatch;
import colonnade.format.arrow.Bits;
import colonnade.format.arrow.NullMask;
import colonnade.format.rowset.BlockEntry;
import colonnade.format.rowset.SparseIndex.IndexColumn;
import colonnade.format.rowset.SparseIndex;
import colonnade.format.rowset.Statistics;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.apache.arrow.vector.types.pojo.Field;

/** Encodes sparse indexes. Spec: docs/spec/rowset.md#sparse-index */
final class SparseIndexWriter {
  private final ArrowBatch batch = new ArrowBatch();
  private final List<Field> fields = new ArrayList<>();
  private final List<BlockEntry> blocks;

  private SparseIndexWriter(List<BlockEntry> blocks) {
    this.blocks = blocks;
  }

  /** Returns the bytes of the index of blocks that lie back to back. */
  static byte[] encode(List<BlockEntry> blocks, Order order, BlockEncoder encoder) {
    boolean filters = blocks.stream().anyMatch(block -> block.filterLength() > 0);
    SparseIndexWriter index = new SparseIndexWriter(blocks);
    for (IndexColumn column : SparseIndex.columns(order, filters)) {
      index.fields.add(column.field(order));
      index.add(column, order);
    }
    return encoder.index(index.fields, index.batch);
  }

  private void add(IndexColumn column, Order order) {
    switch (column) {
      case FIRST_ROW -> addSums(BlockEntry::rows);
      case ROWS -> addLongs(BlockEntry::rows);
      case OFFSET -> addSums(BlockEntry::length);
      case LENGTH -> addLongs(BlockEntry::length);
      case DECODED -> addLongs(BlockEntry::decoded);
      case CRC32C -> addChecksums(BlockEntry::crc32c);
      case ENCODING ->
          addBlobs(
              blocks.stream()
                  .map(block -> block.encoding().getBytes(StandardCharsets.UTF_8))
                  .toList());
      case BASE -> addNullable(block -> block.base() == null ? null : words(block.base()), 8);
      case NULLS -> addLongs(block -> block.statistics().nulls());
      case NANS -> addLongs(block -> block.statistics().nans());
      case MIN -> addBounds(order, Statistics::low);
      case MAX -> addBounds(order, Statistics::high);
      case EXACT -> addExact();
      case FILTER_LENGTH -> addLongs(BlockEntry::filterLength);
      case FILTER_CRC32C -> addChecksums(BlockEntry::filterCrc32c);
    }
  }

  private void addBounds(Order order, Function<Statistics, Bound> side) {
    Function<BlockEntry, Bound> bound = block -> side.apply(block.statistics());
    if (order == Order.STRING || order == Order.BINARY) {
      addBlobs(blocks.stream().map(block -> blob(bound.apply(block))).toList());
    } else {
      int width = order == Order.DECIMAL ? 16 : 8;
      addNullable(block -> number(bound.apply(block), width), width);
    }
  }

  private static byte[] blob(Bound bound) {
    if (bound instanceof Bound.Text text) {
      return text.value().getBytes();
    }
    return bound instanceof Bound.Raw raw ? raw.value() : null;
  }

  private static byte[] number(Bound bound, int width) {
    if (bound instanceof Bound.Real real) {
      return words(Double.doubleToRawLongBits(real.value()));
    }
    if (bound instanceof Bound.Whole whole) {
      BigInteger value = whole.value();
      byte[] number = new byte[width];
      Bits.putLong(number, 0, value.longValue());
      if (width == 16) {
        Bits.putLong(number, 8, value.shiftRight(64).longValue());
      }
      return number;
    }
    return null;
  }

  private static byte[] words(long value) {
    byte[] word = new byte[8];
    Bits.putLong(word, 0, value);
    return word;
  }

  private void addLongs(ToLongFunction<BlockEntry> value) {
    byte[] target = fixed(8);
    for (int i = 0; i < blocks.size(); i++) {
      Bits.putLong(target, 8 * i, value.applyAsLong(blocks.get(i)));
    }
  }

  private void addSums(ToLongFunction<BlockEntry> value) {
    byte[] target = fixed(8);
    long sum = 0;
    for (int i = 0; i < blocks.size(); i++) {
      Bits.putLong(target, 8 * i, sum);
      sum += value.applyAsLong(blocks.get(i));
    }
  }

  private void addChecksums(ToLongFunction<BlockEntry> value) {
    byte[] target = fixed(4);
    for (int i = 0; i < blocks.size(); i++) {
      Bits.putInt(target, 4 * i, (int) value.applyAsLong(blocks.get(i)));
    }
  }

  /** Begins an array without NULL. */
  private byte[] fixed(int width) {
    batch.node(blocks.size(), 0);
    batch.emptyBuffer();
    return batch.buffer(width * blocks.size());
  }

  private void addNullable(Function<BlockEntry, byte[]> value, int width) {
    List<byte[]> values = blocks.stream().map(value).toList();
    begin(values);
    byte[] target = batch.buffer(width * values.size());
    for (int i = 0; i < values.size(); i++) {
      byte[] each = values.get(i) == null ? new byte[width] : values.get(i);
      System.arraycopy(each, 0, target, width * i, width);
    }
  }

  private void addBlobs(List<byte[]> values) {
    begin(values);
    byte[] ends = batch.buffer(4 * (values.size() + 1));
    int end = 0;
    Bits.putInt(ends, 0, 0);
    for (int i = 0; i < values.size(); i++) {
      end += values.get(i) == null ? 0 : values.get(i).length;
      Bits.putInt(ends, 4 * (i + 1), end);
    }
    byte[] target = batch.buffer(end);
    int at = 0;
    for (byte[] value : values) {
      if (value != null) {
        System.arraycopy(value, 0, target, at, value.length);
        at += value.length;
      }
    }
  }

  /** Begins an array. Adds a validity bitmap if some of the values are null. */
  private void begin(List<byte[]> values) {
    NullMask nulls = new NullMask();
    for (int i = 0; i < values.size(); i++) {
      if (values.get(i) == null) {
        nulls.set(i);
      }
    }
    batch.node(values.size(), nulls.count());
    if (nulls.count() == 0) {
      batch.emptyBuffer();
    } else {
      nulls.writeValidity(0, values.size(), batch.buffer(values.size() + 7 >> 3));
    }
  }

  private void addExact() {
    batch.node(blocks.size(), 0);
    batch.emptyBuffer();
    NullMask inexact = new NullMask();
    for (int i = 0; i < blocks.size(); i++) {
      if (!blocks.get(i).statistics().exact()) {
        inexact.set(i);
      }
    }
    // A validity bitmap sets a bit where the mask has none. Here this marks the exact bounds.
    inexact.writeValidity(0, blocks.size(), batch.buffer(blocks.size() + 7 >> 3));
  }
}
