package io.dynamo.frontend.record;

import io.dynamo.frontend.sse.ByteText;
import org.jspecify.annotations.Nullable;

/** One line of the records of requests. */
sealed interface TraceRecord permits RequestRecord, PayloadRecord, ToolRecord {
  /** About how much memory it takes. */
  long bytes();

  /** Dynamo's name of the kind of record. */
  String eventType();

  /** The time of the event, UNIX time. */
  long eventMillis();

  /** The request's id; empty for a record of none. */
  String requestId();

  /** The model's name; empty where none is. */
  String model();

  /** The API of a recorded request; null where the record does not say it. */
  default @Nullable String endpoint() {
    return null;
  }

  /** A copy without texts, with the reason for that; null when it has none to leave out. */
  default @Nullable TraceRecord withoutContent(String reason) {
    return null;
  }

  /** Appends the record as a JSON object. */
  void appendTo(ByteText json);
}
