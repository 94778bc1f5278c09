package io.dynamo.frontend.preprocess.jinja;

import java.util.LinkedHashMap;
import java.util.Map;

/** The one value a template may change from inside a loop. */
record Namespace(Map<String, Object> values) {
  Namespace(Map<String, Object> values) {
    this.values = new LinkedHashMap<>(values);
  }
}
