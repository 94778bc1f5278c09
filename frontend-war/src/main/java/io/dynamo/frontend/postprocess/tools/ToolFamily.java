package io.dynamo.frontend.postprocess.tools;

import io.dynamo.frontend.postprocess.message.MessageParser;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * A family of models that write tool calls in the same way, by the names that Dynamo gives its
 * parsers.
 */
@SuppressWarnings("ImmutableEnumChecker") // its lists are copies, its parsers without state
public enum ToolFamily {
  HERMES(JsonFormat.HERMES, "hermes", "qwen25"),
  NEMOTRON(JsonFormat.NEMOTRON, "nemotron_deci"),
  LLAMA(JsonFormat.LLAMA, "llama3_json"),
  MISTRAL(JsonFormat.MISTRAL, "mistral"),
  PHI(JsonFormat.PHI, "phi4"),
  JAMBA(JsonFormat.JAMBA, "jamba"),
  DEFAULT(JsonFormat.DEFAULT, "default"),
  PYTHONIC(
      List.of("<|python_start|>", "<|python_end|>"), schemas -> new PythonicCalls(), "pythonic"),
  HARMONY(HarmonyMessages.MARKERS, schemas -> new HarmonyMessages(false, true), "harmony"),
  DEEPSEEK_V3(HeadedFormat.DEEPSEEK_V3, "deepseek_v3"),
  DEEPSEEK_V3_1(HeadedFormat.DEEPSEEK_V3_1, "deepseek_v3_1"),
  DEEPSEEK_V3_2(TaggedFormat.DEEPSEEK_V3_2, "deepseek_v3_2"),
  DEEPSEEK_V4(TaggedFormat.DEEPSEEK_V4, "deepseek_v4", "deepseek-v4", "deepseekv4"),
  QWEN3_CODER(TaggedFormat.QWEN3_CODER, "qwen3_coder", "nemotron_nano"),
  GLM(TaggedFormat.GLM_47, "glm47"),
  MINIMAX_M2(TaggedFormat.MINIMAX_M2, "minimax_m2"),
  MINIMAX_M3(
      TaggedFormat.MINIMAX_M3, "minimax_m3", "minimax-m3", "minimax_m3_nom", "minimax-m3-nom"),
  KIMI_K2(HeadedFormat.KIMI_K2, "kimi_k2"),
  KIMI_K3(TaggedFormat.KIMI_K3, "kimi_k3", "kimi-k3"),
  GEMMA(
      List.of("<|tool_call>", "<tool_call|>", "<|\"|>"),
      schemas -> new GemmaCalls(),
      "gemma4",
      "gemma-4"),
  INKLING(
      RoutedMessages.markers(RoutedFormat.INKLING),
      schemas -> RoutedMessages.inkling(false, true),
      "inkling"),
  MUSE(
      RoutedMessages.markers(RoutedFormat.MUSE),
      schemas -> RoutedMessages.muse(false, true, schemas),
      "muse_glimmer",
      "muse-glimmer",
      "muse");

  private static final Map<String, ToolFamily> BY_NAME = new HashMap<>();

  static {
    for (var family : values()) {
      family.names.forEach(name -> BY_NAME.put(name, family));
    }
  }

  private final List<String> names;
  private final List<String> markers;
  private final Function<ToolSchemas, MessageParser> parsers;

  ToolFamily(JsonFormat format, String... names) {
    this(markers(format), schemas -> new JsonCalls(format), names);
  }

  ToolFamily(HeadedFormat format, String... names) {
    this(markers(format), schemas -> new HeadedCalls(format), names);
  }

  ToolFamily(TaggedFormat format, String... names) {
    this(markers(format), schemas -> new TaggedCalls(format, schemas), names);
  }

  ToolFamily(List<String> markers, Function<ToolSchemas, MessageParser> parsers, String... names) {
    this.names = List.of(names);
    this.markers = List.copyOf(markers);
    this.parsers = parsers;
  }

  /** The family whose parser has that name, in Dynamo's spelling. */
  public static Optional<ToolFamily> named(String name) {
    return Optional.ofNullable(BY_NAME.get(name));
  }

  /** All names, sorted. */
  public static List<String> allNames() {
    var all = new ArrayList<>(BY_NAME.keySet());
    Collections.sort(all);
    return all;
  }

  /** The marks of calls, which must stay in the text even where they are special tokens. */
  public List<String> markers() {
    return markers;
  }

  /** Whether messages without calls must be parsed too, because all are framed. */
  public boolean isAlways() {
    return this == KIMI_K3 || this == INKLING || this == MUSE;
  }

  /** A parser for one message. */
  public MessageParser parser(ToolSchemas schemas) {
    return parsers.apply(schemas);
  }

  /**
   * A parser of a message that must be calls, either as guided decoding gives them or as {@code
   * own} does.
   */
  public static MessageParser required(MessageParser own) {
    return new ForcedCalls(new JsonCalls(JsonFormat.GUIDED), "[{", own);
  }

  /**
   * A parser of a message that must be the arguments of {@code function}, or a call as {@code own}
   * reads it.
   */
  public static MessageParser named(String function, MessageParser own) {
    return new ForcedCalls(new NamedCall(function), "{", own);
  }

  /** A parser that finds no calls: all text is content. */
  public static MessageParser none() {
    return new PlainText();
  }

  private static List<String> markers(JsonFormat format) {
    var all = new ArrayList<>(format.opens());
    format.closes().stream().filter(close -> !close.isEmpty()).forEach(all::add);
    if (format.headed()) {
      all.addAll(List.of("[ARGS]", "[CALL_ID]"));
    }
    return all;
  }

  private static List<String> markers(HeadedFormat format) {
    var all = new ArrayList<>(format.sectionOpens());
    all.addAll(format.sectionCloses());
    all.addAll(List.of(format.callOpen(), format.argumentsOpen(), format.callClose()));
    return all;
  }

  /** Tags are made of tokens that need not be whole tags. */
  private static List<String> markers(TaggedFormat format) {
    var all = new ArrayList<>(format.framing());
    all.addAll(List.of("<|open|>", "<|close|>", "<|sep|>", "<tool_call>", "</tool_call>"));
    all.addAll(List.of("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"));
    all.addAll(List.of("｜DSML｜", "]<]minimax[>["));
    all.addAll(List.of("<minimax:tool_call>", "</minimax:tool_call>"));
    return all;
  }
}
