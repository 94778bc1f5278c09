package io.dynamo.frontend.postprocess;

import io.dynamo.frontend.postprocess.tools.ToolChoice;
import java.util.List;
import java.util.Map;

/**
 * What a request says of the messages it wants.
 *
 * @param tools as JSON has them; empty when the model must not call
 * @param parallelCalls whether a message may have more than one call
 * @param templateArgs the template's arguments, the controls of thinking among them
 * @param guided whether the message is bound to be JSON
 */
public record MessageWish(
    List<Map<String, Object>> tools,
    ToolChoice choice,
    boolean parallelCalls,
    Map<String, Object> templateArgs,
    boolean guided) {
  public MessageWish {
    tools = List.copyOf(tools);
  }

  boolean wantsCalls() {
    return !tools.isEmpty() && !(choice instanceof ToolChoice.None);
  }

  boolean forcesCalls() {
    return wantsCalls() && !(choice instanceof ToolChoice.Auto);
  }
}
