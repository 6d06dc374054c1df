/** What a task of a scan is told: its RowSets, and the filter whose bounds rule out stretches. */
package colonnade.read.plan;
