package io.dynamo.frontend.record;

import io.dynamo.frontend.sse.ByteText;

/** One line of the records of requests. */
sealed interface TraceRecord permits RequestRecord, PayloadRecord {
  /** About how much memory it takes. */
  long bytes();

  /** Appends the record as a JSON object. */
  void appendTo(ByteText json);
}
