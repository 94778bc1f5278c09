package io.dynamo.router;

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

/** A decision in a flight recording; off unless a recording asks for it. */
@Name("io.dynamo.router.RouteDecision")
@Label("Route Decision")
@Description("Where a request was sent, and why")
@Category({"Dynamo", "Router"})
@Enabled(false)
@StackTrace(false)
final class RouteEvent extends Event {
  private static final EventType TYPE = EventType.getEventType(RouteEvent.class);

  @Label("Request")
  @Nullable String requestId;

  @Label("Endpoint")
  @Nullable String endpoint;

  @Label("Worker")
  @Nullable String worker;

  @Label("Rank")
  int rank;

  @Label("Reason")
  @Nullable String reason;

  @Label("Candidates")
  int candidates;

  @Label("Prompt Tokens")
  int promptTokens;

  @Label("Overlap Blocks")
  int overlapBlocks;

  @Label("Cost")
  @Description("In KV blocks; 0 in modes that know none")
  double cost;

  @Label("Waited")
  @Timespan(Timespan.NANOSECONDS)
  long waited;

  /** Whether a recording wants these events; asked before one is made. */
  static boolean wanted() {
    return TYPE.isEnabled();
  }
}
