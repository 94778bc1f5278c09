package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.dynamo.inference.GuidedDecoding;
import io.dynamo.inference.OutputOptions;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.SamplingOptions;
import io.dynamo.inference.StopConditions;
import java.util.Map;

/**
 * The checked fields that all text APIs share: each value is within its bounds.
 *
 * @param choices how many answers to each prompt, 1 to 128
 * @param stop without the model's own stops; empty when {@code ignore_eos} is set
 * @param sampling of each choice; {@code n} is 1 or unset
 * @param output log probabilities and the treatment of special tokens
 * @param engineOptions {@code extra_args.sampling_options}, values as JSON has them
 * @param passedOn options for media
 */
public record GenerationFields(
    String model,
    int choices,
    StopConditions stop,
    SamplingOptions sampling,
    OutputOptions output,
    StreamOptions stream,
    Nvext nvext,
    Map<String, Object> engineOptions,
    PassedOn passedOn) {
  /** The fields of a request that names its model and generates no text. */
  public static GenerationFields ofModel(String model) {
    var translation = new NativeRequest.Translation();
    translation.put("model", JsonNodeFactory.instance.textNode(model));
    return translation.fields();
  }

  /** Whether a matched stop string stays in the text. */
  public boolean includesStop() {
    return Boolean.TRUE.equals(sampling.includeStop());
  }

  /** Whether special tokens are left out of the text. */
  public boolean skipsSpecialTokens() {
    return !Boolean.FALSE.equals(output.skipSpecialTokens());
  }

  /** Whether tokens in log probabilities are written as ids. */
  public boolean tokensAsIds() {
    return Boolean.TRUE.equals(output.tokensAsIds());
  }

  /** A copy with another form that the text must have. */
  public GenerationFields with(GuidedDecoding form) {
    return new GenerationFields(
        model,
        choices,
        stop,
        sampling.withGuided(form),
        output,
        stream,
        nvext,
        engineOptions,
        passedOn);
  }

  /** A copy with another extension. */
  public GenerationFields with(Nvext extension) {
    return new GenerationFields(
        model, choices, stop, sampling, output, stream, extension, engineOptions, passedOn);
  }
}
