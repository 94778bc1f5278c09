package io.dynamo.frontend.openai;

import io.dynamo.frontend.catalog.Readiness;
import io.dynamo.frontend.sse.ByteText;
import java.util.List;

/** Writes Dynamo's document on the readiness of a model. */
final class ReadinessText {
  private ReadinessText() {}

  /** The document as UTF-8 JSON. */
  static byte[] body(String model, Readiness readiness) {
    var json = new ByteText(256);
    json.ascii("{\"model\":").quoted(model);
    state(json.ascii(","), readiness);
    json.ascii(",\"namespaces\":{").quoted(readiness.namespace()).ascii(":{");
    state(json, readiness);
    json.ascii(",\"worker_types\":{").quoted(readiness.workerType());
    json.ascii(":{\"workers\":").number(readiness.workers()).ascii(",\"needs\":[");
    for (int i = 0; i < readiness.needs().size(); i++) {
      names(json.ascii(i == 0 ? "" : ","), readiness.needs().get(i));
    }
    json.ascii("]}},\"present\":");
    var type = List.of(readiness.workerType());
    boolean present = readiness.workers() > 0;
    names(json, present ? type : List.of());
    names(json.ascii(",\"missing_worker_types\":"), present ? List.of() : type);
    return json.ascii("}}}").toByteArray();
  }

  private static void state(ByteText json, Readiness readiness) {
    json.ascii("\"ready\":").ascii(Boolean.toString(readiness.ready()));
    if (!readiness.ready()) {
      json.ascii(",\"reason\":");
      json.quoted(readiness.workers() == 0 ? "no worker is live" : "the model is being loaded");
    }
  }

  private static void names(ByteText json, List<String> names) {
    json.ascii("[");
    for (int i = 0; i < names.size(); i++) {
      json.ascii(i == 0 ? "" : ",").quoted(names.get(i));
    }
    json.ascii("]");
  }
}
