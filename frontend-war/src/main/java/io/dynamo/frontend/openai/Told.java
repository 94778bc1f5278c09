package io.dynamo.frontend.openai;

import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.openai.wire.GenerationFields;
import io.dynamo.request.RequestContext;
import java.util.List;

/**
 * What the answer of a request needs to know of it. Holds nothing of the body beyond: messages and
 * tools may be large, and the answer may take long.
 *
 * @param texts texts of each prompt
 * @param prompts as text only where the answer has them
 */
record Told(
    ServedModel model,
    GenerationFields fields,
    int texts,
    List<PreparedPrompt> prompts,
    RequestContext context) {
  Told {
    prompts = List.copyOf(prompts);
  }

  static Told of(Asked asked) {
    var wanted = asked.wanted();
    boolean shown = !wanted.fields().nvext().annotations().isEmpty();
    return new Told(
        asked.model(),
        wanted.fields(),
        wanted.texts(),
        shown
            ? asked.prompts()
            : asked.prompts().stream()
                .map(prompt -> new PreparedPrompt(prompt.tokens(), null, prompt.rendered()))
                .toList(),
        asked.context());
  }
}
