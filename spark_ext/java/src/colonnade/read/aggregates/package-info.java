/** Aggregates that tasks compute over their own rows. */
package colonnade.read.aggregates;
