/** The blocks of a RowSet: where they are, which reads fetch them, and how they become vectors. */
package colonnade.read.block;
