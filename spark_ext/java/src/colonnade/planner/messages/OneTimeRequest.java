package colonnade.planner.messages;

/**
 * A request that is never sent twice, because its second run would do something else.
 *
 * @param <R> the reply
 */
public interface OneTimeRequest<R extends Record> extends Request<R> {}
