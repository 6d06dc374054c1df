package colonnade.format;

import com.google.flatbuffers.FlatBufferBuilder;
import java.util.List;
import org.apache.arrow.flatbuf.DictionaryEncoding;
import org.apache.arrow.flatbuf.DictionaryKind;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.Int;

/**
 * An Arrow field as the schema message of a stream states it. {@code indexBits} is the width of a
 * dictionary index in bits, or 0 for a field without a dictionary.
 */
public record ArrowField(
    String name, boolean nullable, ArrowType type, List<ArrowField> children, int indexBits) {
  public static ArrowField of(String name, ArrowType type, ArrowField... children) {
    return new ArrowField(name, true, type, List.of(children), 0);
  }

  public ArrowField notNull() {
    return new ArrowField(name, false, type, children, indexBits);
  }

  public ArrowField named(String other) {
    return new ArrowField(other, nullable, type, children, indexBits);
  }

  public ArrowField withType(ArrowType other) {
    return new ArrowField(name, nullable, other, children, indexBits);
  }

  /** Returns the field with a dictionary, whose id is always 0 because a stream has only one. */
  public ArrowField withDictionary(int bits) {
    return new ArrowField(name, nullable, type, children, bits);
  }

  /** Writes the FlatBuffers table of the field and returns its offset. */
  int write(FlatBufferBuilder builder) {
    int[] nested = children.stream().mapToInt(child -> child.write(builder)).toArray();
    int vector = Field.createChildrenVector(builder, nested);
    int label = builder.createString(name);
    int table = type.table().applyAsInt(builder);
    int dictionary = 0;
    if (indexBits > 0) {
      int index = Int.createInt(builder, indexBits, true);
      dictionary =
          DictionaryEncoding.createDictionaryEncoding(
              builder, 0, index, false, DictionaryKind.DenseArray);
    }
    return Field.createField(
        builder, label, nullable, type.kind(), table, dictionary, vector, 0);
  }
}
