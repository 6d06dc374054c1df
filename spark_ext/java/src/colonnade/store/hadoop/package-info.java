/** Objects of any store that Hadoop has a file system for, and what its errors mean. */
package colonnade.store.hadoop;
