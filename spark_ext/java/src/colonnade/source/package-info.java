/** The data sources that Spark finds by their short names. */
package colonnade.source;
