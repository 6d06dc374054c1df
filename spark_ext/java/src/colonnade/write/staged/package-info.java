/** Stages the rows of one column, from the arriving row to the encoded block. */
package colonnade.write.staged;
