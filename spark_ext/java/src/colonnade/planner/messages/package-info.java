/**
 * The requests and replies of the planner as records: the same as in {@code
 * spark_ext/planner/messages/}, by their names and their types.
 */
package colonnade.planner.messages;
