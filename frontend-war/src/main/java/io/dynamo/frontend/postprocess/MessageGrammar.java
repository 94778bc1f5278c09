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
import io.dynamo.frontend.preprocess.TokenTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How the messages of one model are taken apart: the families that its card names. Immutable, cheap
 * to make.
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
   * Dynamo. {@link #problems} tells of both.
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

  /** What is wrong with the card's names, for the log; empty when nothing is. */
  public List<String> problems() {
    return problems;
  }

  /**
   * What takes one choice's text apart, or null when the text is the message.
   *
   * @param schemas of the wish's tools: the same for all choices
   * @param promptEnd the end of the prompt's text; asked only when it matters
   */
  public @Nullable MessageAssembler assembler(
      MessageWish wish, ToolSchemas schemas, Supplier<String> promptEnd) {
    var controls = ThinkingControls.of(wish.templateArgs());
    var family = reasoning != null && reasoning.appliesTo(controls) ? reasoning : null;
    boolean calls = wish.wantsCalls() && (tools != null || wish.forcesCalls());
    if (family == null && !calls && !findsMarkers(wish)) {
      return null;
    }
    ReasoningParser thinking = null;
    MessageParser parser = ToolFamily.none();
    if (tools != null && findsMarkers(wish)) {
      parser = tools.parser(schemas);
    }
    var framed = family == null ? null : framed(family, calls, schemas);
    if (framed != null) {
      thinking = framed;
      parser = framed;
    }
    if (calls) {
      parser =
          switch (wish.choice()) {
            case ToolChoice.Required _ -> ToolFamily.required(parser);
            case ToolChoice.Named named -> ToolFamily.named(named.function(), parser);
            case ToolChoice.Auto _, ToolChoice.None _ -> parser;
          };
    }
    if (family != null && framed == null) {
      thinking = family.parser(promptEnd.get(), wish.guided() || wish.forcesCalls(), parser);
      parser = thinking;
    }
    var pieces = new PieceList(() -> "call-" + UUID.randomUUID());
    boolean force = Boolean.TRUE.equals(wish.templateArgs().get("force_nonempty_content"));
    var nonEmpty = force && thinking != null ? new NonEmptyContent(pieces) : null;
    MessageSink end = nonEmpty == null ? pieces : nonEmpty;
    var only = wish.choice() instanceof ToolChoice.Named named ? named.function() : null;
    var policy = new CallPolicy(end, !wish.parallelCalls(), calls ? only : "");
    return new MessageAssembler(parser, thinking, pieces, nonEmpty, policy);
  }

  /**
   * A parser of a family whose thoughts and calls cannot be told apart by one without the other.
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
  private boolean findsMarkers(MessageWish wish) {
    return tools != null && (wish.wantsCalls() || tools.isAlways());
  }

  /**
   * The vocabulary as messages that are taken apart need it: special tokens that mark calls or
   * thoughts are text where somebody looks for them.
   */
  public TokenTable withMarkers(TokenTable table, MessageWish wish) {
    var markers = new ArrayList<String>();
    if (tools != null && findsMarkers(wish)) {
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
