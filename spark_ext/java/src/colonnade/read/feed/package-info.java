/**
 * The executor side of a change feed: a task in, the rows of inserts, deletes and updates out.
 *
 * <p>Specification: docs/spec/feed.md
 */
package colonnade.read.feed;
