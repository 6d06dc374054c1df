/**
 * Names and statements: the catalog of databases and paths, creating, altering and dropping tables.
 * The planner decides what a statement means for a table.
 */
package colonnade.spark.catalog;
