package colonnade.planner.messages;

/**
 * A request that changes no table.
 *
 * @param <R> the reply
 */
public interface Question<R extends Record> extends Request<R> {}
