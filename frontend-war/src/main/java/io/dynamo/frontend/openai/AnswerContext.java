package io.dynamo.frontend.openai;

import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.openai.wire.GenerationFields;
import io.dynamo.request.RequestContext;
import java.util.List;

/**
 * The part of a request that writing its answer needs. The rest of the body can be collected
 * meanwhile: messages and tools may be large, and the answer may take long.
 *
 * @param texts the number of texts of each prompt
 * @param prompts with their text only where the answer repeats it
 */
record AnswerContext(
    ServedModel model,
    GenerationFields fields,
    int texts,
    List<PreparedPrompt> prompts,
    RequestContext context) {
  AnswerContext {
    prompts = List.copyOf(prompts);
  }

  static AnswerContext of(PreparedRequest request) {
    var parsed = request.parsed();
    boolean shown = !parsed.fields().nvext().annotations().isEmpty();
    return new AnswerContext(
        request.model(),
        parsed.fields(),
        parsed.texts(),
        shown
            ? request.prompts()
            : request.prompts().stream()
                .map(prompt -> new PreparedPrompt(prompt.tokens(), null, prompt.rendered()))
                .toList(),
        request.context());
  }
}
