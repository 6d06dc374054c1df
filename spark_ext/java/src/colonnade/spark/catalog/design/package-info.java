/** What a statement says of a table to create: columns, constraints, defaults and their like. */
package colonnade.spark.catalog.design;
