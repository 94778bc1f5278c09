package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.admission.JsonCost;

/**
 * Finds the JSON texts inside a request's strings: the arguments of tool calls, which are parsed.
 */
public final class InnerJson {
  private static final String ARGUMENTS = "arguments";

  private InnerJson() {}

  /**
   * Adds what the arguments of all tool calls become once they are parsed, at any depth.
   *
   * @param cost of the request; grows
   */
  public static void addTo(JsonCost cost, JsonNode body) {
    if (body.isObject()) {
      for (var member : body.properties()) {
        if (member.getKey().equals(ARGUMENTS) && member.getValue().isTextual()) {
          cost.addInner(member.getValue().textValue());
        } else if (member.getValue().isContainerNode()) {
          addTo(cost, member.getValue());
        }
      }
    } else {
      for (var element : body) {
        if (element.isContainerNode()) {
          addTo(cost, element);
        }
      }
    }
  }
}
