package io.dynamo.frontend.postprocess.reasoning;

import io.dynamo.frontend.postprocess.message.MessageParser;
import io.dynamo.frontend.postprocess.message.ReasoningParser;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A family of models that mark their thoughts in the same way, by the names that Dynamo gives its
 * parsers.
 */
@SuppressWarnings("ImmutableEnumChecker") // its lists are copies, its formats records of such
public enum ReasoningFamily {
  BASIC(ThinkFormat.THINK, ThinkingMode.ALWAYS, "basic", "qwen3", "nemotron_deci", "glm45"),
  DEEPSEEK_R1(ThinkFormat.THINK_FIRST, ThinkingMode.NOT_DISABLED, "deepseek_r1", "step3"),
  NEMOTRON(
      ThinkFormat.THINK_FIRST,
      ThinkingMode.NOT_DISABLED,
      "nemotron_nano",
      "nemotron3",
      "nemotron_v3"),
  DEEPSEEK_V3(
      ThinkFormat.THINK_FIRST,
      ThinkingMode.DEMANDED,
      "deepseek_v3",
      "deepseek_v3_1",
      "deepseek_v3_2"),
  DEEPSEEK_V4(
      ThinkFormat.DEEPSEEK_V4,
      ThinkingMode.NOT_DISABLED,
      "deepseek_v4",
      "deepseek-v4",
      "deepseekv4"),
  KIMI(ThinkFormat.KIMI, ThinkingMode.NOT_DISABLED, "kimi"),
  KIMI_K25(ThinkFormat.KIMI_K25, ThinkingMode.NOT_DISABLED, "kimi_k25"),
  KIMI_K3(ThinkFormat.KIMI_K3, ThinkingMode.NOT_DISABLED, "kimi_k3", "kimi-k3"),
  MINIMAX_M2(ThinkFormat.MINIMAX_M2, ThinkingMode.ALWAYS, "minimax_m2"),
  MINIMAX_M3(ThinkFormat.MINIMAX_M3, ThinkingMode.NOT_DISABLED, "minimax_m3", "minimax-m3"),
  MISTRAL(ThinkFormat.MISTRAL, ThinkingMode.EFFORT, "mistral"),
  GEMMA(ThinkFormat.GEMMA, ThinkingMode.DEMANDED, "gemma4", "gemma-4"),
  GRANITE(ThinkFormat.GRANITE, ThinkingMode.ALWAYS, "granite"),
  /** Messages in channels; one parser finds both thoughts and calls. */
  GPT_OSS(null, ThinkingMode.ALWAYS, "gpt_oss"),
  /** Typed blocks; one parser finds both thoughts and calls. */
  INKLING(null, ThinkingMode.ALWAYS, "inkling"),
  /** Messages with a recipient; one parser finds both thoughts and calls. */
  MUSE(null, ThinkingMode.ALWAYS, "muse_glimmer", "muse-glimmer", "muse"),
  APPEND_THINK(null, ThinkingMode.ALWAYS, "minimax_append_think");

  /** When a message of the family has thoughts. */
  private enum ThinkingMode {
    ALWAYS,
    NOT_DISABLED,
    DEMANDED,
    EFFORT
  }

  private static final Map<String, ReasoningFamily> BY_NAME = new HashMap<>();

  static {
    for (var family : values()) {
      family.names.forEach(name -> BY_NAME.put(name, family));
    }
  }

  private final @Nullable ThinkFormat format;
  private final ThinkingMode mode;
  private final List<String> names;

  ReasoningFamily(@Nullable ThinkFormat format, ThinkingMode mode, String... names) {
    this.format = format;
    this.mode = mode;
    this.names = List.of(names);
  }

  /** The family whose parser has that name, in Dynamo's spelling. */
  public static Optional<ReasoningFamily> named(String name) {
    return Optional.ofNullable(BY_NAME.get(name));
  }

  /** All names, sorted. */
  public static List<String> allNames() {
    var all = new ArrayList<>(BY_NAME.keySet());
    Collections.sort(all);
    return all;
  }

  /**
   * Whether answers to a request with these controls are parsed for thoughts.
   *
   * @param promptEnd the end of the prompt: one that opens a thought demands it; asked only when it
   *     matters
   */
  public boolean appliesTo(ThinkingControls controls, Supplier<String> promptEnd) {
    return switch (mode) {
      case ALWAYS -> true;
      case NOT_DISABLED -> !controls.disabled();
      case DEMANDED ->
          controls.demanded()
              || (!controls.disabled()
                  && format != null
                  && endsWithAny(promptEnd.get(), format.opens()));
      case EFFORT -> controls.effort() != null && !controls.disabled();
    };
  }

  /** The marks of thoughts, which must stay in the text even where they are special tokens. */
  public List<String> markers() {
    if (format == null) {
      return List.of();
    }
    var all = new ArrayList<>(format.opens());
    all.addAll(format.closes());
    all.addAll(List.of("<|open|>", "<|close|>", "<|sep|>", "<|channel>"));
    return all;
  }

  /**
   * A parser for one message.
   *
   * @param promptEnd the end of the prompt, which shows whether a thought is open @param guided
   *     whether the answer is constrained to JSON, where the family would think first @param next
   *     gets all text that is no thought
   */
  public ReasoningParser parser(String promptEnd, boolean guided, MessageParser next) {
    if (format == null) {
      return new AppendThink(next);
    }
    boolean inside =
        format.startsInside()
            ? !endsWithAny(promptEnd, format.closes())
            : endsWithAny(promptEnd, format.opens());
    return new ThinkBlocks(format, inside, guided && format.startsInside(), next);
  }

  private static boolean endsWithAny(String text, List<String> marks) {
    var end = text.stripTrailing();
    return marks.stream().anyMatch(mark -> end.endsWith(mark.stripTrailing()));
  }
}
