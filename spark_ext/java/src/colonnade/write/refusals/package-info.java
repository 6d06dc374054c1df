/** Why a value cannot be written: errors that name its column, and the room that values may take. */
package colonnade.write.refusals;
