package io.dynamo.frontend.openai;

import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.media.PreparedMedia;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.request.RequestContext;
import java.util.List;
import java.util.Map;

/**
 * A request whose prompts are token ids, ready to be sent to workers.
 *
 * @param prompts in tokens, at least one
 * @param media of the prompts, as workers get them
 * @param agent the session that the request belongs to, as JSON; empty for none
 */
record PreparedRequest(
    ServedModel model,
    Api.ParsedRequest parsed,
    List<PreparedPrompt> prompts,
    PreparedMedia media,
    Map<String, Object> agent,
    RequestContext context) {
  PreparedRequest {
    prompts = List.copyOf(prompts);
  }

  /** The number of texts to make, over all prompts. */
  int texts() {
    return prompts.size() * parsed.texts();
  }

  PreparedPrompt prompt(int text) {
    return prompts.get(text / parsed.texts());
  }

  /** The request that a worker gets for one of the texts. */
  GenerateRequest request(int text) {
    return WorkerRequests.of(parsed, model, prompt(text), media, text % parsed.texts(), agent);
  }
}
