package colonnade.format;

import colonnade.write.staged.BlockEncoder;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/** The sparse index of a column segment: one row per block. Spec: docs/spec/rowset.md */
public final class SparseIndex {
  private final ArrowBatch batch = new ArrowBatch();
  private final List<ArrowField> fields = new ArrayList<>();
  private final List<BlockEntry> blocks;

  private SparseIndex(List<BlockEntry> blocks) {
    this.blocks = blocks;
  }

  /** Write the index of blocks that lie back to back. */
  public static byte[] encode(List<BlockEntry> blocks, TableField.Order order, BlockEncoder encoder) {
    SparseIndex index = new SparseIndex(blocks);
    index.addBlocks();
    if (order != TableField.Order.NONE) {
      index.addBounds("min", order, Statistics::low);
      index.addBounds("max", order, Statistics::high);
      index.addExact();
    }
    if (blocks.stream().anyMatch(block -> block.filterLength() > 0)) {
      index.addLongs("filter_length", BlockEntry::filterLength);
      index.addChecksums("filter_crc32c", BlockEntry::filterCrc32c);
    }
    return encoder.index(index.fields, index.batch);
  }

  private void addBlocks() {
    addSums("first_row", BlockEntry::rows);
    addLongs("rows", BlockEntry::rows);
    addSums("offset", BlockEntry::length);
    addLongs("length", BlockEntry::length);
    addLongs("decoded", BlockEntry::decoded);
    addChecksums("crc32c", BlockEntry::crc32c);
    List<byte[]> encodings = new ArrayList<>();
    blocks.forEach(block -> encodings.add(block.encoding().getBytes(StandardCharsets.UTF_8)));
    addField(ArrowField.of("encoding", ArrowType.utf8()).notNull());
    addBlobs(encodings);
    addField(ArrowField.of("base", ArrowType.signed(64)));
    addNullable(block -> block.base() == null ? null : words(block.base()), 8);
    addLongs("nulls", block -> block.statistics().nulls());
    addLongs("nans", block -> block.statistics().nans());
  }

  private void addBounds(
      String name, TableField.Order order, Function<Statistics, Bound> side) {
    Function<BlockEntry, Bound> bound = block -> side.apply(block.statistics());
    switch (order) {
      case STRING, BINARY -> {
        boolean isText = order == TableField.Order.STRING;
        addField(ArrowField.of(name, isText ? ArrowType.utf8() : ArrowType.binary()));
        addBlobs(blocks.stream().map(block -> blob(bound.apply(block))).toList());
      }
      case FLOAT -> {
        addField(ArrowField.of(name, ArrowType.floating(64)));
        addNullable(block -> number(bound.apply(block), 8), 8);
      }
      case DECIMAL -> {
        addField(ArrowField.of(name, ArrowType.decimal(38, 0)));
        addNullable(block -> number(bound.apply(block), 16), 16);
      }
      default -> {
        addField(ArrowField.of(name, ArrowType.signed(64)));
        addNullable(block -> number(bound.apply(block), 8), 8);
      }
    }
  }

  private static byte[] blob(Bound bound) {
    if (bound instanceof Bound.Text text) {
      return text.value().getBytes(StandardCharsets.UTF_8);
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

  private void addField(ArrowField field) {
    fields.add(field);
  }

  private void addLongs(String name, ToLongFunction<BlockEntry> value) {
    addField(ArrowField.of(name, ArrowType.signed(64)).notNull());
    byte[] target = fixed(8);
    for (int i = 0; i < blocks.size(); i++) {
      Bits.putLong(target, 8 * i, value.applyAsLong(blocks.get(i)));
    }
  }

  private void addSums(String name, ToLongFunction<BlockEntry> value) {
    addField(ArrowField.of(name, ArrowType.signed(64)).notNull());
    byte[] target = fixed(8);
    long sum = 0;
    for (int i = 0; i < blocks.size(); i++) {
      Bits.putLong(target, 8 * i, sum);
      sum += value.applyAsLong(blocks.get(i));
    }
  }

  private void addChecksums(String name, ToLongFunction<BlockEntry> value) {
    addField(ArrowField.of(name, ArrowType.unsigned(32)).notNull());
    byte[] target = fixed(4);
    for (int i = 0; i < blocks.size(); i++) {
      Bits.putInt(target, 4 * i, (int) value.applyAsLong(blocks.get(i)));
    }
  }

  /** Begin an array without NULL. */
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

  /** Begin an array with a validity bitmap, if some of the values are null. */
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
    addField(ArrowField.of("exact", ArrowType.bool()).notNull());
    batch.node(blocks.size(), 0);
    batch.emptyBuffer();
    NullMask inexact = new NullMask();
    for (int i = 0; i < blocks.size(); i++) {
      if (!blocks.get(i).statistics().exact()) {
        inexact.set(i);
      }
    }
    // A validity bitmap has a bit where the mask has none, which is what is wanted here.
    inexact.writeValidity(0, blocks.size(), batch.buffer(blocks.size() + 7 >> 3));
  }
}
