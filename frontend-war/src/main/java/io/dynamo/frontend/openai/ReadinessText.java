package io.dynamo.frontend.openai;

import io.dynamo.frontend.catalog.Readiness;
import io.dynamo.frontend.sse.ByteText;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes Dynamo's document on the readiness of a model. */
final class ReadinessText {
  private ReadinessText() {}

  /** The document as UTF-8 JSON. */
  static byte[] body(String model, Readiness readiness) {
    var json = new ByteText(256);
    json.ascii("{\"model\":").quoted(model);
    state(json.ascii(","), readiness.ready() ? null : reason(readiness));
    json.ascii(",\"namespaces\":{");
    for (int i = 0; i < readiness.namespaces().size(); i++) {
      namespace(json.ascii(i == 0 ? "" : ","), readiness.namespaces().get(i));
    }
    return json.ascii("}}").toByteArray();
  }

  private static @Nullable String reason(Readiness readiness) {
    return readiness.namespaces().isEmpty() ? null : readiness.namespaces().getFirst().reason();
  }

  private static void namespace(ByteText json, Readiness.Namespace namespace) {
    json.quoted(namespace.name()).ascii(":{");
    state(json, namespace.reason());
    json.ascii(",\"worker_types\":{");
    for (int i = 0; i < namespace.types().size(); i++) {
      type(json.ascii(i == 0 ? "" : ","), namespace.types().get(i));
    }
    json.ascii("},\"present\":");
    names(
        json,
        namespace.types().stream()
            .filter(type -> type.workers() > 0)
            .map(Readiness.WorkerType::name)
            .toList());
    names(json.ascii(",\"missing_worker_types\":"), namespace.missing());
    json.ascii("}");
  }

  private static void type(ByteText json, Readiness.WorkerType type) {
    json.quoted(type.name()).ascii(":{\"workers\":").number(type.workers());
    json.ascii(",\"needs\":[");
    for (int i = 0; i < type.needs().size(); i++) {
      names(json.ascii(i == 0 ? "" : ","), type.needs().get(i));
    }
    json.ascii("]}");
  }

  private static void state(ByteText json, @Nullable String reason) {
    json.ascii("\"ready\":").ascii(Boolean.toString(reason == null));
    if (reason != null) {
      json.ascii(",\"reason\":").quoted(reason);
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
