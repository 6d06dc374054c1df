package colonnade.planner.messages;

/**
 * A request to the planner. It is safe to send twice, because a commit carries its transaction id
 * and its base. Its operation is named as its class is.
 *
 * @param <R> the reply
 */
public interface Request<R extends Record> {}
