package io.dynamo.frontend.openai;

import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.postprocess.MessageGrammar;
import io.dynamo.frontend.postprocess.structure.StructuralTags;
import io.dynamo.inference.GuidedDecoding;
import java.util.Objects;

/** Adds the structural tag of tool calls to requests for models whose card asks for one. */
final class GuidedCalls {
  private GuidedCalls() {}

  /**
   * Returns {@code parsed} with its tag, or as it is.
   *
   * @param prompt of the conversation; its end shows whether it opens a thought
   */
  static Api.ParsedRequest of(Api.ParsedRequest parsed, ServedModel model, PreparedPrompt prompt) {
    var options = parsed.message();
    if (options == null || options.tools().isEmpty()) {
      return parsed;
    }
    var text = model.text();
    var tag =
        StructuralTags.of(model.card().runtimeConfig())
            .tag(options, () -> MessageGrammar.promptEnd(text.tokens(), prompt.tokens()));
    if (tag == null) {
      return parsed;
    }
    var fields = parsed.fields();
    var demanded = Objects.requireNonNullElse(fields.sampling().guided(), GuidedDecoding.NONE);
    return parsed.with(fields.with(demanded.withStructuralTag(tag)));
  }
}
