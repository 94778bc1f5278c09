package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.databind.JsonNode;
import io.dynamo.frontend.openai.wire.CompletionRequest.Prompt;
import io.dynamo.inference.PassedOn;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads a completion request and refuses what is out of bounds, in Dynamo's words. */
public final class CompletionRequestReader {
  private static final int MAX_TOTAL = 128; // choices over all prompts
  private static final int MAX_BEST_OF = 20;
  private static final int MAX_LOGPROBS = 5;
  private static final int MAX_SUFFIX_BYTES = 10_000;
  private static final Set<String> KNOWN =
      Set.of("prompt", "suffix", "echo", "best_of", "prompt_embeds");

  private CompletionRequestReader() {}

  /** The top-level fields of the API. */
  public static Set<String> names() {
    return ChatRequestReader.both(KNOWN);
  }

  /** Whether a top-level field is one of the API's. */
  public static boolean knows(String field) {
    return KNOWN.contains(field) || GenerationReader.KNOWN.contains(field);
  }

  /**
   * Reads and checks.
   *
   * @throws io.dynamo.frontend.ApiException with 400, or 501 for prompts that are embeddings
   */
  public static CompletionRequest read(JsonNode body) {
    var fields = JsonFields.of(body, "");
    var common = new GenerationReader(fields, false);
    var embeds = fields.string("prompt_embeds");
    var faults = new ArrayList<String>();
    var prompts = prompts(fields.require("prompt"), faults);
    var logprobs = fields.integer("logprobs", 0, 255);
    var bestOf = fields.integer("best_of", 0, 255);
    var suffix = fields.string("suffix");
    boolean echo = fields.bool("echo");

    common.checkStreamOptions();
    common.checkKeys(KNOWN);
    if (embeds != null) {
      PromptEmbeds.refuse(embeds);
    }
    GenerationReader.refuseFirst("prompt", faults);
    if (suffix != null && suffix.getBytes(StandardCharsets.UTF_8).length > MAX_SUFFIX_BYTES) {
      throw GenerationReader.refuse(
          "suffix", "Suffix is too long, maximum " + MAX_SUFFIX_BYTES + " characters");
    }
    common.checkValues();
    checkLogprobs(logprobs);
    checkBestOf(bestOf, common);
    long total = (long) prompts.size() * common.choices();
    if (total > MAX_TOTAL) {
      throw GenerationReader.refuse(
          "prompt",
          "Total choices (batch_size × n = %d × %d = %d) exceeds maximum of %d"
              .formatted(prompts.size(), common.choices(), total, MAX_TOTAL));
    }
    if (prompts.size() * (long) Math.max(common.choices(), bestOf == null ? 0 : bestOf)
        > MAX_TOTAL) {
      throw GenerationReader.refuse(
          "best_of",
          "Total texts (batch_size × best_of = %d × %d) exceeds maximum of %d"
              .formatted(prompts.size(), bestOf, MAX_TOTAL));
    }
    Map<String, Object> options =
        suffix == null || suffix.isEmpty() ? Map.of() : Map.of("suffix", suffix);
    return new CompletionRequest(
        common.build(
            logprobs, promptLogprobs(common, logprobs, echo), options, PassedOn.NONE, null),
        prompts,
        echo,
        Math.max(common.choices(), bestOf == null ? 0 : bestOf));
  }

  /**
   * Asking for the prompt and for log probabilities asks for those of the prompt too, as OpenAI
   * means it. Dynamo asks for them with every echo, which engines without them would refuse.
   */
  private static @Nullable Integer promptLogprobs(
      GenerationReader common, @Nullable Integer logprobs, boolean echo) {
    var asked = common.promptLogprobs();
    return asked != null || !echo || logprobs == null ? asked : (Integer) Math.max(1, logprobs);
  }

  private static void checkLogprobs(@Nullable Integer logprobs) {
    if (logprobs != null && logprobs > MAX_LOGPROBS) {
      throw GenerationReader.refuse(
          "logprobs", "Logprobs must be between 0 and " + MAX_LOGPROBS + ", got " + logprobs);
    }
  }

  private static void checkBestOf(@Nullable Integer bestOf, GenerationReader common) {
    if (bestOf == null) {
      return;
    }
    if (bestOf > MAX_BEST_OF) {
      throw GenerationReader.refuse(
          "best_of", "Best_of must be between 0 and " + MAX_BEST_OF + ", got " + bestOf);
    }
    if (bestOf < common.choices()) {
      throw GenerationReader.refuse(
          "best_of",
          "Best_of must be greater than or equal to n, got best_of=%d and n=%d"
              .formatted(bestOf, common.choices()));
    }
    if (bestOf > common.choices() && common.stream().events()) {
      throw GenerationReader.refuse(
          "best_of",
          "Best_of above n cannot be streamed: the best are known only when all have ended");
    }
  }

  private static List<Prompt> prompts(JsonNode prompt, List<String> faults) {
    if (prompt.isTextual()) {
      if (prompt.textValue().isEmpty()) {
        faults.add("Prompt string cannot be empty");
      }
      return List.of(new Prompt(prompt.textValue(), null));
    }
    if (!prompt.isArray()) {
      throw wrong("prompt", prompt);
    }
    if (prompt.isEmpty()) {
      faults.add("Prompt string array cannot be empty");
      return List.of();
    }
    if (prompt.get(0).isIntegralNumber()) {
      return List.of(new Prompt(null, Nvext.tokenIds(prompt, "prompt")));
    }
    var prompts = new ArrayList<Prompt>(Math.min(prompt.size(), 2 * MAX_TOTAL));
    boolean texts = prompt.get(0).isTextual();
    for (int i = 0; i < prompt.size(); i++) {
      var element = prompt.get(i);
      var path = "prompt[" + i + "]";
      if (texts && element.isTextual()) {
        if (element.textValue().isEmpty()) {
          faults.add("Prompt string at index " + i + " cannot be empty");
        }
        prompts.add(new Prompt(element.textValue(), null));
      } else if (!texts && element.isArray()) {
        if (element.isEmpty()) {
          faults.add("Prompt token array at index " + i + " cannot be empty");
        }
        prompts.add(new Prompt(null, Nvext.tokenIds(element, path)));
      } else {
        throw wrong(path, element);
      }
    }
    return prompts;
  }

  private static RuntimeException wrong(String path, JsonNode value) {
    return JsonFields.wrong(
        path, value, "a string, a list of strings, a list of token ids or a list of such lists");
  }
}
