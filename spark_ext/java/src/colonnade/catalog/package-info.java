/** The class names that users put into Spark's configuration. They never change. */
package colonnade.catalog;
