/**
 * Expressions that are read, resolved and evaluated outside a query of the user.
 */
package colonnade.spark.quirks.expressions;
