package colonnade.format;

/**
 * The values of a column between two bounds. NULL and NaN are never inside.
 *
 * @param low the lower bound in the form that the log stores; null if every value is above it
 * @param high the upper bound; null if every value is below it
 * @param lowOpen whether the lower bound itself is outside
 * @param highOpen whether the upper bound itself is outside
 */
public record Interval(
    TableField column, String low, String high, boolean lowOpen, boolean highOpen) {}
