package io.dynamo.frontend.postprocess;

import io.dynamo.frontend.postprocess.tools.ToolChoice;
import java.util.List;
import java.util.Map;

/**
 * The options of a request for its messages: tools, tool choice and thinking.
 *
 * @param tools as JSON has them; empty when the model must not call
 * @param parallelCalls whether a message may have more than one call
 * @param templateArgs the template's arguments, the controls of thinking among them
 * @param guided whether the answer is constrained to JSON
 */
public record MessageOptions(
    List<Map<String, Object>> tools,
    ToolChoice choice,
    boolean parallelCalls,
    Map<String, Object> templateArgs,
    boolean guided) {
  public MessageOptions {
    tools = List.copyOf(tools);
  }

  boolean wantsCalls() {
    return !tools.isEmpty() && !(choice instanceof ToolChoice.None);
  }

  boolean forcesCalls() {
    return wantsCalls() && !(choice instanceof ToolChoice.Auto);
  }
}
