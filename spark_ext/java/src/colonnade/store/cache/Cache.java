package colonnade.store.cache;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Where pieces are kept. Memory is asked first. */
record Cache(MemoryPieces memory, FolderPieces folder) {
  private static final Map<Settings, Cache> CACHES = new ConcurrentHashMap<>();

  private record Settings(String folder, long bytes, long memoryBytes) {}

  /**
   * Returns the one cache of this process for some settings. Requires: the planner has checked them.
   * Does no I/O.
   */
  static Cache of(JsonNode settings) {
    Settings chosen =
        new Settings(
            settings.get("folder").textValue(),
            settings.get("bytes").longValue(),
            settings.get("memory_bytes").longValue());
    return CACHES.computeIfAbsent(
        chosen,
        unknown ->
            new Cache(
                new MemoryPieces(chosen.memoryBytes()),
                new FolderPieces(chosen.folder(), chosen.bytes())));
  }
}
