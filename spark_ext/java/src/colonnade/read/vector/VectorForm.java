package colonnade.read.vector;

/** What a {@link ColonnadeVector} holds, apart from NULL. */
public enum VectorForm {
  /** All rows are NULL or have the same value. */
  UNIFORM,
  /** Integers, the bits of floats, or dictionary indexes. */
  FIXED,
  /** Booleans, one bit each. */
  BITS,
  /** Decimals of 16 bytes. */
  WIDE,
  /** The position itself, added to the base. */
  POSITION,
  /** Texts or binary values, with offsets. */
  TEXT,
  /** Structs, or lists and maps with offsets of their children. */
  NESTED
}
