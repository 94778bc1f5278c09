package io.dynamo.frontend.watch;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** A whole request in a flight recording; off unless a recording asks for it. */
@Name("io.dynamo.frontend.Request")
@Label("Request")
@Description("From arrival to the last byte of the answer")
@Category({"Dynamo", "Frontend"})
@Enabled(false)
@StackTrace(false)
final class RequestEvent extends Event {
  private static final EventType TYPE = EventType.getEventType(RequestEvent.class);

  @Label("Request")
  @Nullable String requestId;

  @Label("Model")
  @Nullable String model;

  @Label("Endpoint")
  @Nullable String endpoint;

  @Label("Status")
  int status;

  @Label("Input Tokens")
  int inputTokens;

  @Label("Output Tokens")
  int outputTokens;

  @Label("Time to First Token")
  @Timespan(Timespan.NANOSECONDS)
  long firstToken;

  /** Begins an event; returns null unless a recording has it enabled. */
  static @Nullable RequestEvent beginIfEnabled() {
    if (!TYPE.isEnabled()) {
      return null;
    }
    var event = new RequestEvent();
    event.begin();
    return event;
  }
}
