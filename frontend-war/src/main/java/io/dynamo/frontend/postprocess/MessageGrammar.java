package io.dynamo.frontend.postprocess;

import io.dynamo.frontend.postprocess.message.MessageParser;
import io.dynamo.frontend.postprocess.message.MessageSink;
import io.dynamo.frontend.postprocess.message.NonEmptyContent;
import io.dynamo.frontend.postprocess.message.PieceList;
import io.dynamo.frontend.postprocess.message.ReasoningParser;
import io.dynamo.frontend.postprocess.reasoning.ReasoningFamily;
import io.dynamo.frontend.postprocess.reasoning.ThinkingControls;
import io.dynamo.frontend.postprocess.tools.CallPolicy;
import io.dynamo.frontend.postprocess.tools.HarmonyMessages;
import io.dynamo.frontend.postprocess.tools.RoutedMessages;
import io.dynamo.frontend.postprocess.tools.ToolChoice;
import io.dynamo.frontend.postprocess.tools.ToolFamily;
import io.dynamo.frontend.postprocess.tools.ToolSchemas;
import io.dynamo.model.vocabulary.TokenTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Selects the parsers of one model's messages by the names on its card. Immutable, cheap to create.
 */
public final class MessageGrammar {
  private static final int PROMPT_END_TOKENS = 16;

  private final @Nullable ToolFamily tools;
  private final @Nullable ReasoningFamily reasoning;
  private final List<String> problems;

  private MessageGrammar(
      @Nullable ToolFamily tools, @Nullable ReasoningFamily reasoning, List<String> problems) {
    this.tools = tools;
    this.reasoning = reasoning;
    this.problems = List.copyOf(problems);
  }

  /**
   * Reads {@code tool_call_parser} and {@code reasoning_parser} of a card's runtime configuration.
   * An unknown tool parser finds no calls; an unknown reasoning parser is the basic one, as in
   * Dynamo. {@link #problems} lists both.
   */
  public static MessageGrammar of(Map<String, ? extends @Nullable Object> runtimeConfig) {
    var problems = new ArrayList<String>();
    ToolFamily tools = null;
    ReasoningFamily reasoning = null;
    if (runtimeConfig.get("tool_call_parser") instanceof String name && !name.isBlank()) {
      tools = ToolFamily.named(name).orElse(null);
      if (tools == null) {
        problems.add(
            "unknown tool_call_parser \"%s\": tool calls stay text; known are %s"
                .formatted(name, String.join(", ", ToolFamily.allNames())));
      }
    }
    if (runtimeConfig.get("reasoning_parser") instanceof String name && !name.isBlank()) {
      var known = ReasoningFamily.named(name);
      reasoning = known.orElse(ReasoningFamily.BASIC);
      if (known.isEmpty()) {
        problems.add(
            "unknown reasoning_parser \"%s\": read as \"basic\"; known are %s"
                .formatted(name, String.join(", ", ReasoningFamily.allNames())));
      }
    }
    return new MessageGrammar(tools, reasoning, problems);
  }

  /** The unknown parser names of the card, described for the log; empty when all are known. */
  public List<String> problems() {
    return problems;
  }

  /**
   * Creates the assembler that splits one choice's text into content, thoughts and calls; null when
   * the text is the message.
   *
   * @param schemas of the tools of the options: the same for all choices
   * @param promptEnd the end of the prompt's text; asked only when it matters
   */
  public @Nullable MessageAssembler assembler(
      MessageOptions options, ToolSchemas schemas, Supplier<String> promptEnd) {
    var controls = ThinkingControls.of(options.templateArgs());
    var family = reasoning != null && reasoning.appliesTo(controls, promptEnd) ? reasoning : null;
    boolean calls = options.wantsCalls() && (tools != null || options.forcesCalls());
    if (family == null && !calls && !findsMarkers(options)) {
      return null;
    }
    ReasoningParser thinking = null;
    MessageParser parser = ToolFamily.none();
    if (tools != null && findsMarkers(options)) {
      parser = tools.parser(schemas);
    }
    var framed = family == null ? null : framed(family, calls, schemas);
    if (framed != null) {
      thinking = framed;
      parser = framed;
    }
    if (calls) {
      parser =
          switch (options.choice()) {
            case ToolChoice.Required _ -> ToolFamily.required(parser);
            case ToolChoice.Named named -> ToolFamily.named(named.function(), parser);
            case ToolChoice.Auto _, ToolChoice.None _ -> parser;
          };
    }
    if (family != null && framed == null) {
      thinking = family.parser(promptEnd.get(), options.guided() || options.forcesCalls(), parser);
      parser = thinking;
    }
    var pieces = new PieceList(() -> "call-" + UUID.randomUUID());
    boolean force = Boolean.TRUE.equals(options.templateArgs().get("force_nonempty_content"));
    var nonEmpty = force && thinking != null ? new NonEmptyContent(pieces) : null;
    MessageSink end = nonEmpty == null ? pieces : nonEmpty;
    var only = options.choice() instanceof ToolChoice.Named named ? named.function() : null;
    var policy = new CallPolicy(end, !options.parallelCalls(), calls ? only : "");
    return new MessageAssembler(parser, thinking, pieces, nonEmpty, policy);
  }

  /**
   * A parser for a family whose thoughts and calls must be parsed together; null for other
   * families.
   */
  private @Nullable ReasoningParser framed(
      ReasoningFamily family, boolean calls, ToolSchemas schemas) {
    if (family == ReasoningFamily.GPT_OSS) {
      return new HarmonyMessages(true, calls && tools == ToolFamily.HARMONY);
    }
    if (family == ReasoningFamily.INKLING) {
      return RoutedMessages.inkling(true, calls && tools == ToolFamily.INKLING);
    }
    return family == ReasoningFamily.MUSE
        ? RoutedMessages.muse(true, calls && tools == ToolFamily.MUSE, schemas)
        : null;
  }

  /** Whether the tool parser reads the message. */
  private boolean findsMarkers(MessageOptions options) {
    return tools != null && (options.wantsCalls() || tools.isAlways());
  }

  /**
   * The vocabulary for parsed messages: special tokens that mark calls or thoughts are text in it.
   */
  public TokenTable withMarkers(TokenTable table, MessageOptions options) {
    var markers = new ArrayList<String>();
    if (tools != null && findsMarkers(options)) {
      markers.addAll(tools.markers());
    }
    if (reasoning != null) {
      markers.addAll(reasoning.markers());
    }
    if (reasoning == ReasoningFamily.GPT_OSS) {
      markers.addAll(HarmonyMessages.MARKERS);
    } else if (reasoning == ReasoningFamily.INKLING) {
      markers.addAll(ToolFamily.INKLING.markers());
    } else if (reasoning == ReasoningFamily.MUSE) {
      markers.addAll(ToolFamily.MUSE.markers());
    }
    return new MarkerTokens(table, markers);
  }

  /** The text of a prompt's last tokens: enough to see whether it opens a thought. */
  public static String promptEnd(TokenTable table, int[] prompt) {
    var text = new StringBuilder();
    var detokenizer = new IncrementalDetokenizer(table, false);
    for (int i = Math.max(0, prompt.length - PROMPT_END_TOKENS); i < prompt.length; i++) {
      detokenizer.append(prompt[i], text);
    }
    return text.toString();
  }
}
