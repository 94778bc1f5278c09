package io.dynamo.frontend.postprocess.structure;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A tool that may be called, by name.
 *
 * @param schema of its arguments, a JSON schema: an object or {@code true} for any
 */
record CallableTool(String name, Object schema) {
  /**
   * Reads the tools of a request.
   *
   * @param strict whether the schema counts for tools with {@code "strict": false}, too
   */
  static List<CallableTool> of(List<Map<String, Object>> tools, boolean strict) {
    var all = new ArrayList<CallableTool>();
    for (var tool : tools) {
      if (tool.get("function") instanceof Map<?, ?> function
          && function.get("name") instanceof String name) {
        boolean bound = strict || !Boolean.FALSE.equals(function.get("strict"));
        var schema =
            bound && function.get("parameters") instanceof Map<?, ?> known ? known : (Object) true;
        all.add(new CallableTool(name, schema));
      }
    }
    return all;
  }
}
