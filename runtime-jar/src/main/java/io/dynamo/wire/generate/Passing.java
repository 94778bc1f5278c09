package io.dynamo.wire.generate;

import io.dynamo.inference.PassedOn;
import io.dynamo.wire.WireReader;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** Collects the fields of one map that are passed on unread. For one thread, one map. */
final class Passing {
  private final Map<String, Object> fields = new LinkedHashMap<>();

  /** Takes the next value, which is not null. */
  void take(String name, WireReader in) throws IOException {
    var value = in.any();
    if (value != null) {
      fields.put(name, value);
    }
  }

  void put(String name, Object value) {
    fields.put(name, value);
  }

  PassedOn taken() {
    return PassedOn.of(fields);
  }
}
