package io.dynamo.frontend.watch;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.EventType;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** A stage in a flight recording; off unless a recording asks for it. */
@Name("io.dynamo.frontend.Stage")
@Label("Request Stage")
@Description("A part of a request's way through the frontend; its duration is the stage's")
@Category({"Dynamo", "Frontend"})
@Enabled(false)
@StackTrace(false)
final class StageEvent extends Event {
  private static final EventType TYPE = EventType.getEventType(StageEvent.class);

  @Label("Request")
  @Nullable String requestId;

  @Label("Stage")
  @Description("admission, preprocess, template, tokenize, route, dispatch or first_token")
  @Nullable String stage;

  /** Begins an event; returns null unless a recording has it enabled. */
  static @Nullable StageEvent beginIfEnabled() {
    if (!TYPE.isEnabled()) {
      return null;
    }
    var event = new StageEvent();
    event.begin();
    return event;
  }

  void end(String name, String request) {
    stage = name;
    requestId = request;
    commit();
  }
}
