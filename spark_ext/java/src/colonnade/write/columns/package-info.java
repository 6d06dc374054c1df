/** New values of some columns, which replace those of RowSets whose rows stay where they are. */
package colonnade.write.columns;
