package colonnade.read.block;

import colonnade.format.Slice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Reads the bytes of stretches. Neighbouring bytes are read in one request. */
public final class StretchReads {
  private StretchReads() {}

  private record Piece(int column, int at, RowSetSource.Extent extent) {}

  /** Whether a read of these columns may cost a round trip. */
  public static boolean isRemote(OpenColumnSegment[] segments) {
    return Arrays.stream(segments)
        .filter(Objects::nonNull)
        .anyMatch(each -> each.source().isRemote());
  }

  /**
   * Returns the bytes of stretches by column, and in the order of {@code stretches}, which names
   * those of each column. The element of a column that the RowSet does not have is null.
   */
  public static Slice[][] read(OpenColumnSegment[] segments, int[][] stretches) throws IOException {
    Slice[][] found = new Slice[segments.length][];
    Map<String, List<Integer>> byObject = new HashMap<>();
    for (int i = 0; i < segments.length; i++) {
      if (segments[i] != null) {
        found[i] = new Slice[stretches[i].length];
        byObject.computeIfAbsent(segments[i].name(), name -> new ArrayList<>()).add(i);
      }
    }
    List<Reads.Read> reads = new ArrayList<>();
    byObject.forEach(
        (name, columns) -> reads.add(() -> readObject(name, columns, segments, stretches, found)));
    Reads.all(isRemote(segments), reads);
    return found;
  }

  private static void readObject(
      String name, List<Integer> columns, OpenColumnSegment[] segments, int[][] stretches,
      Slice[][] found)
      throws IOException {
    List<Piece> pieces = new ArrayList<>();
    for (int column : columns) {
      for (int i = 0; i < stretches[column].length; i++) {
        RowSetSource.Extent extent = segments[column].extent(stretches[column][i]);
        if (extent.length() == 0) {
          found[column][i] = Slice.EMPTY;
        } else {
          pieces.add(new Piece(column, i, extent));
        }
      }
    }
    pieces.sort((a, b) -> Long.compare(a.extent().offset(), b.extent().offset()));
    List<RowSetSource.Extent> extents = pieces.stream().map(Piece::extent).toList();
    List<Slice> data = segments[columns.get(0)].source().read(name, extents);
    for (int i = 0; i < data.size(); i++) {
      found[pieces.get(i).column()][pieces.get(i).at()] = data.get(i);
    }
  }
}
