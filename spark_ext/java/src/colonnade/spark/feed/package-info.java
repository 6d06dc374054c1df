/**
 * The changes of a table as queries read them. Which changes these are the planner decides.
 *
 * <p>Specification: docs/spec/feed.md
 */
package colonnade.spark.feed;
