package io.dynamo.frontend.openai;

import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.request.RequestContext;
import java.util.List;
import java.util.Map;

/**
 * What a body asks for, ready for workers.
 *
 * @param prompts in tokens, at least one
 * @param agent whose request it is, as workers are told; empty for nobody's
 */
record Asked(
    ServedModel model,
    Api.Wanted wanted,
    List<PreparedPrompt> prompts,
    Map<String, Object> agent,
    RequestContext context) {
  Asked {
    prompts = List.copyOf(prompts);
  }

  /** Texts to make, over all prompts. */
  int texts() {
    return prompts.size() * wanted.texts();
  }

  PreparedPrompt prompt(int text) {
    return prompts.get(text / wanted.texts());
  }

  /** What a worker is asked for one of the texts. */
  GenerateRequest request(int text) {
    return Generations.of(wanted, model, prompt(text), text % wanted.texts(), agent);
  }
}
