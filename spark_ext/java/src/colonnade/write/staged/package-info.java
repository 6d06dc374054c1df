/** The rows of one column in memory, from the arriving row until they are encoded as a block. */
package colonnade.write.staged;
