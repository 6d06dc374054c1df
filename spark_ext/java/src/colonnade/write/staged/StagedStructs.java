package colonnade.write.staged;

import colonnade.format.TableField;
import colonnade.format.arrow.ArrowBatch;
import colonnade.write.refusals.InvalidText;
import java.util.List;
import java.util.Objects;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.unsafe.types.VariantVal;

/** Structs and variants. They store only which rows are NULL; their children store the values. */
abstract class StagedStructs extends Staged {
  private final List<? extends Staged> children;

  StagedStructs(TableField field, String path, List<? extends Staged> children) {
    super(field, path);
    this.children = children;
  }

  @Override
  public final int slotBytes() {
    return children.stream().mapToInt(Staged::slotBytes).sum();
  }

  @Override
  final long valueBytes(int from, int to) {
    return children.stream().mapToLong(child -> child.sizeBytes(from, to)).sum();
  }

  @Override
  final void addValues(ArrowBatch batch, int from, int to) {
    children.forEach(child -> child.addPlain(batch, from, to));
  }

  @Override
  public final InvalidText invalidText() {
    return children.stream()
        .map(Staged::invalidText)
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(null);
  }

  @Override
  public final void clear() {
    super.clear();
    children.forEach(Staged::clear);
  }

  /** {@code struct}. The fields are matched by name with those of the arriving structs. */
  static final class Structs extends StagedStructs {
    private final Staged[] fields;
    private final int[] ordinals;

    /**
     * Creates a staged struct. {@code ordinals} has the position of each field in the arriving
     * structs.
     */
    Structs(TableField field, String path, List<Staged> children, int[] ordinals) {
      super(field, path, children);
      this.fields = children.toArray(Staged[]::new);
      this.ordinals = ordinals;
    }

    @Override
    void appendValue(SpecializedGetters from, int ordinal) {
      InternalRow struct = from.getStruct(ordinal, fields.length);
      for (int i = 0; i < fields.length; i++) {
        fields[i].append(struct, ordinals[i]);
      }
    }

    @Override
    void appendSlot() {
      for (Staged each : fields) {
        each.appendNull();
      }
    }

    @Override
    void checkValues() {
      for (Staged each : fields) {
        each.check(nulls.count());
      }
    }
  }

  /** {@code variant}: its binary value and metadata, both empty under a NULL. */
  static final class Variants extends StagedStructs {
    private static final byte[] EMPTY = new byte[0];

    private final StagedTexts value;
    private final StagedTexts metadata;

    Variants(TableField field, String path, StagedTexts value, StagedTexts metadata) {
      super(field, path, List.of(value, metadata));
      this.value = value;
      this.metadata = metadata;
    }

    @Override
    void appendValue(SpecializedGetters from, int ordinal) {
      VariantVal variant = from.getVariant(ordinal);
      value.append(variant.getValue());
      metadata.append(variant.getMetadata());
    }

    @Override
    void appendSlot() {
      value.append(EMPTY);
      metadata.append(EMPTY);
    }

    @Override
    void checkValues() {}
  }
}
