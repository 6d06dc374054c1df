/**
 * Names and statements: the catalog of databases and paths, creating, altering and writing tables.
 * What a statement means for a table is decided by the planner.
 */
package colonnade.catalog;
