package colonnade.planner.messages;

import java.lang.annotation.ElementType;
import java.lang.annotation.Target;

/** Says that a component of a message may be null: it is {@code | None} in Python. */
@Target(ElementType.RECORD_COMPONENT)
@interface Nullable {}
