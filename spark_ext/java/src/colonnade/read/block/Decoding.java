package colonnade.read.block;

import colonnade.format.Malformed;
import colonnade.format.TableField;
import colonnade.format.TableField.Kind;
import colonnade.format.arrow.ArrowForms;
import colonnade.format.arrow.ArrowStream;
import colonnade.format.arrow.StoredForm;
import colonnade.format.rowset.BlockEntry;
import colonnade.read.vector.Bytes;
import colonnade.read.vector.ColonnadeVector;
import colonnade.read.vector.ConstantBlock;
import com.github.luben.zstd.ZstdDecompressCtx;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.arrow.flatbuf.Field;

/**
 * Every encoding of blocks, and how its rows are read. The dispatch is by block, never by value.
 *
 * <p>Spec: docs/spec/rowset.md#encodings
 */
enum Decoding {
  NULL {
    @Override
    boolean isStored() {
      return false;
    }

    @Override
    boolean decode(Block block) {
      block.target().setNull();
      return true;
    }
  },

  CONSTANT {
    @Override
    boolean isStored() {
      return false;
    }

    @Override
    boolean decode(Block block) throws Malformed {
      ConstantBlock.decode(block.column(), block.entry().statistics(), block.target());
      return true;
    }
  },

  DICTIONARY {
    @Override
    boolean decode(Block block) throws Malformed {
      int width = block.width(ArrowForms::indexes, 1, 2, 4);
      if (width == 0 || block.stream().dictionary() == null) {
        return false;
      }
      if (block.column().kind().isNested()) {
        throw new Malformed("dictionaries of nested values cannot be read");
      }
      DictionaryBlock.decode(block, width);
      return true;
    }
  },

  NARROWED {
    @Override
    boolean decode(Block block) throws Malformed {
      TableField column = block.column();
      int width = column.kind().isInteger() ? block.width(ArrowForms::narrowed, 1, 2, 4) : 0;
      if (column.isShortDecimal()) {
        width = block.width(ArrowForms::narrowed, 1, 2, 4, 8);
      }
      if (width == 0) {
        return false;
      }
      Long base = block.entry().base();
      if (base == null) {
        throw new Malformed("its index lacks the base of its values");
      }
      block.batch().decodeNarrowed(block.target(), width, block.batch().rows(), base);
      return true;
    }
  },

  LENGTHS {
    @Override
    long streamRows(BlockEntry entry) {
      return 1;
    }

    @Override
    boolean decode(Block block) throws Malformed {
      Kind kind = block.column().kind();
      boolean applies = kind == Kind.UTF8 || kind == Kind.BINARY;
      int width = applies ? block.width(ArrowForms::lengths, 1, 2, 4) : 0;
      if (width == 0) {
        return false;
      }
      block.batch().decodeLengths(block.target(), block.scratch(), width, block.entry());
      return true;
    }
  },

  PLAIN {
    @Override
    boolean decode(Block block) throws Malformed {
      TableField column = block.column();
      TableField stored =
          ArrowForms.matches(block.field(), ArrowForms.plain(column))
              ? column
              : StoredForm.of(block.field(), column);
      if (stored == null) {
        return false;
      }
      block.batch().decode(stored, column, block.target(), block.batch().rows());
      return true;
    }
  };

  private static final Map<String, Decoding> BY_NAME =
      Stream.of(values())
          .collect(Collectors.toMap(each -> each.name().toLowerCase(Locale.ROOT), each -> each));

  /**
   * A block to decode.
   *
   * @param field the field of its stream; this and what follows up to {@code target} are null
   *     without a stream
   * @param scratch a buffer for temporary use
   */
  record Block(
      TableField column,
      BlockEntry entry,
      Field field,
      ArrowStream stream,
      BatchDecoder batch,
      ColonnadeVector target,
      Bytes scratch,
      ZstdDecompressCtx zstd) {
    /** Returns the width in bytes for which the stream has the form of an encoding; 0 for none. */
    int width(
        BiFunction<TableField, Integer, org.apache.arrow.vector.types.pojo.Field> form,
        int... widths) {
      return ArrowForms.width(field, each -> form.apply(column, each), widths);
    }
  }

  /** Whether there is an encoding of that name. */
  static boolean isKnown(String name) {
    return BY_NAME.containsKey(name);
  }

  /** Returns the encoding of a block. */
  static Decoding of(BlockEntry entry) throws Malformed {
    Decoding found = BY_NAME.get(entry.encoding());
    if (found == null) {
      throw new Malformed("its encoding " + entry.encoding() + " is unknown");
    }
    return found;
  }

  /** Whether a block has bytes. The index alone describes all other blocks. */
  boolean isStored() {
    return true;
  }

  /** Returns the rows that the stream of a block has. */
  long streamRows(BlockEntry entry) {
    return entry.rows();
  }

  /**
   * Fills the vector of a block. Returns false if the stream does not have the type that the
   * encoding needs.
   */
  abstract boolean decode(Block block) throws Malformed;
}
