/**
 * Keeps bytes of objects that never change near the reader, in a folder on local disk that
 * processes of both languages share.
 *
 * <pre>
 *   CachedSource -> FolderPieces
 *        +--------> ByteSource
 * </pre>
 *
 * <p>Guide: docs/cache.md
 */
package colonnade.store.cache;
