package io.dynamo.frontend.postprocess.structure;

import io.dynamo.frontend.postprocess.MessageOptions;
import io.dynamo.frontend.postprocess.tools.ToolChoice;
import io.dynamo.frontend.postprocess.tools.ToolFamily;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Builds the structural tag of a request with tools: the grammar in which the model's family writes
 * calls, with the schemas of the tools, which the engine enforces while the model writes.
 * Immutable.
 */
public final class StructuralTags {
  /** The most memory that the description of a tool takes beside its schema, in bytes. */
  public static final int TOOL_BYTES = 2048;

  private static final String THOUGHT_OPENS = "<think>";
  private static final String THOUGHT_ENDS = "</think>";

  private final TagPolicy policy;
  private final String parser; // as the card names it
  private final @Nullable ToolFamily family;
  private final @Nullable CallGrammar grammar;

  private StructuralTags(TagPolicy policy, String parser) {
    this.policy = policy;
    this.parser = parser;
    this.family = ToolFamily.named(parser).orElse(null);
    this.grammar = family == null ? null : CallGrammar.of(family);
  }

  /** Reads the policy and the {@code tool_call_parser} of a card's runtime configuration. */
  public static StructuralTags of(Map<String, ? extends @Nullable Object> runtimeConfig) {
    return new StructuralTags(
        TagPolicy.of(runtimeConfig),
        runtimeConfig.get("tool_call_parser") instanceof String name ? name : "");
  }

  /** Tells, for the log, that the card asks for tags of a parser that has none. */
  public Optional<String> problem() {
    return policy.on() && grammar == null
        ? Optional.of(
            ("structural tags are on, but there are none for tool_call_parser \"%s\": calls that a"
                    + " request forces are guided by a JSON schema, others are not guided")
                .formatted(parser))
        : Optional.empty();
  }

  /**
   * The structural tag for an answer, as a JSON value; null when the request is served without.
   *
   * @param promptEnd the end of the prompt, which shows whether it opens a thought; asked only when
   *     it matters
   */
  public @Nullable Object tag(MessageOptions options, Supplier<String> promptEnd) {
    var choice = options.choice();
    boolean named = choice instanceof ToolChoice.Named;
    boolean forced = named || choice instanceof ToolChoice.Required;
    if (grammar == null
        || options.tools().isEmpty()
        || choice instanceof ToolChoice.None
        || !(forced ? policy.on() || family == ToolFamily.KIMI_K2 : isWanted(options))) {
      return null;
    }
    var tools =
        CallableTool.of(options.tools(), policy.strict()).stream()
            .filter(
                it -> !(choice instanceof ToolChoice.Named one) || one.function().equals(it.name()))
            .toList();
    if (tools.isEmpty()) {
      return null;
    }
    var calls = grammar.calls(tools, new CallDemand(forced, named, !options.parallelCalls()));
    boolean thinksFirst =
        (forced || grammar.describesThoughts())
            && !policy.afterThoughts()
            && promptEnd.get().stripTrailing().endsWith(THOUGHT_OPENS);
    return TagNodes.structuralTag(
        thinksFirst
            ? TagNodes.sequence(
                List.of(
                    TagNodes.tag(
                        "", TagNodes.anyText(grammar.excludedFromThoughts()), THOUGHT_ENDS),
                    calls))
            : calls);
  }

  /** Whether calls that are left to the model are described. */
  private boolean isWanted(MessageOptions options) {
    return policy.on()
        && !options.guided()
        && (policy.always() || !options.parallelCalls() || hasStrictTool(options));
  }

  private static boolean hasStrictTool(MessageOptions options) {
    return options.tools().stream()
        .anyMatch(
            tool ->
                tool.get("function") instanceof Map<?, ?> function
                    && Boolean.TRUE.equals(function.get("strict")));
  }
}
