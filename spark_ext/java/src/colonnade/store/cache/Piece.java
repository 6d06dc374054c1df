package colonnade.store.cache;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** Bytes of an object from {@code start} on. */
record Piece(long start, byte[] data) {
  /** Pieces of a range end at multiples of this many bytes. */
  static final int MOST_BYTES = 1 << 20;

  /** A range of an object, from {@code start} up to, but not including, {@code end}. */
  record Range(long start, long end) {}

  long end() {
    return start + data.length;
  }

  boolean meets(Range range) {
    return start < range.end() && range.start() < end();
  }

  /**
   * Returns the range from the first to the last byte that no piece has; null if the pieces have all
   * of {@code wanted}.
   */
  static Range missing(Range wanted, List<Piece> held) {
    List<Piece> sorted = new ArrayList<>(held);
    sorted.sort(Comparator.comparingLong(Piece::start));
    long start = wanted.start();
    for (Piece piece : sorted) {
      start = piece.start() <= start ? Math.max(start, piece.end()) : start;
    }
    sorted.sort(Comparator.comparingLong(Piece::end).reversed());
    long end = wanted.end();
    for (Piece piece : sorted) {
      end = piece.end() >= end ? Math.min(end, piece.start()) : end;
    }
    return start < end ? new Range(start, end) : null;
  }

  /** Divides bytes that begin at {@code offset}. No piece passes a multiple of the most bytes. */
  static List<Piece> divide(long offset, byte[] data) {
    List<Piece> pieces = new ArrayList<>();
    int at = 0;
    while (at < data.length) {
      int until = (int) Math.min(data.length, at + MOST_BYTES - (offset + at) % MOST_BYTES);
      pieces.add(new Piece(offset + at, Arrays.copyOfRange(data, at, until)));
      at = until;
    }
    return pieces;
  }

  /** Returns the bytes of a range. Requires: the pieces have all of them. */
  static byte[] assemble(Range wanted, List<Piece> pieces) {
    byte[] found = new byte[(int) (wanted.end() - wanted.start())];
    for (Piece piece : pieces) {
      long from = Math.max(wanted.start(), piece.start());
      long until = Math.min(wanted.end(), piece.end());
      if (from < until) {
        System.arraycopy(
            piece.data(),
            (int) (from - piece.start()),
            found,
            (int) (from - wanted.start()),
            (int) (until - from));
      }
    }
    return found;
  }
}
