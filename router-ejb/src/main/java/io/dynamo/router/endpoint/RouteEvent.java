package io.dynamo.router.endpoint;

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

/** A routing decision as a flight-recorder event; off unless a recording enables it. */
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

  @Label("Shared Blocks")
  @Description("Further blocks, which any worker can fetch from the shared cache")
  int sharedBlocks;

  @Label("Prefill Tokens")
  @Description("Booked on the rank before this request and not yet computed")
  long prefillTokens;

  @Label("Active Blocks")
  @Description("Of requests on the rank before this one")
  int activeBlocks;

  @Label("Requests")
  @Description("In flight on the rank before this one")
  int requests;

  @Label("Reported Used Blocks")
  @Description("As the worker reported last; -1 without a recent report")
  long reportedUsedBlocks;

  @Label("Report Used")
  @Description("Whether the report decided that a rank is busy; it has no part in the cost")
  boolean reportUsed;

  @Label("Cost")
  @Description("In KV blocks; 0 in modes without costs")
  double cost;

  @Label("Waited")
  @Timespan(Timespan.NANOSECONDS)
  long waited;

  @Label("Queued")
  @Description("The part of the wait that was spent in the queue")
  @Timespan(Timespan.NANOSECONDS)
  long queued;

  /** Returns the event's fields as a line for the log. */
  String line() {
    return "%s of %s goes to %s/%d of %d candidates: %s, cost %s, %d blocks of %d tokens cached and %d shared, load %d tokens %d blocks %d requests, reported %d blocks (%s), waited %d us, %d us of it in the queue"
        .formatted(
            requestId,
            endpoint,
            worker,
            rank,
            candidates,
            reason,
            cost,
            overlapBlocks,
            promptTokens,
            sharedBlocks,
            prefillTokens,
            activeBlocks,
            requests,
            reportedUsedBlocks,
            reportUsed ? "used" : "not used",
            waited / 1000,
            queued / 1000);
  }

  /** Whether a recording has enabled these events; checked before one is made. */
  static boolean wanted() {
    return TYPE.isEnabled();
  }
}
