package io.dynamo.frontend.postprocess.structure;

import io.dynamo.frontend.postprocess.tools.ToolFamily;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How the models of a family write calls, as nodes of structural tags. */
sealed interface CallGrammar {
  /**
   * The form of an answer with calls.
   *
   * @param tools that may be called, at least one
   */
  Map<String, Object> calls(List<CallableTool> tools, CallDemand demand);

  /** Whether a thought that the prompt opens is described also where no call is forced. */
  default boolean describesThoughts() {
    return false;
  }

  /** Texts that a thought before a call must not have. */
  default List<String> excludedFromThoughts() {
    return List.of();
  }

  /**
   * The grammar of a family; null where there is none. Dynamo has those of Kimi K3 and Inkling,
   * too.
   */
  static @Nullable CallGrammar of(ToolFamily family) {
    return switch (family) {
      case HERMES ->
          new Flat(
              "<tool_call>",
              "<tool_call>\n{\"name\": \"",
              "\", \"arguments\": ",
              "json",
              "}\n</tool_call>");
      case QWEN3_CODER ->
          new Flat(
              "<tool_call>\n<function=",
              "<tool_call>\n<function=",
              ">\n",
              "qwen_xml",
              "\n</function>\n</tool_call>");
      case GLM -> new Glm();
      case DEEPSEEK_V3_2 -> new Dsml("function_calls");
      case DEEPSEEK_V4 -> new Dsml("tool_calls");
      case KIMI_K2 -> new KimiK2();
      case NEMOTRON,
          LLAMA,
          MISTRAL,
          PHI,
          JAMBA,
          DEFAULT,
          PYTHONIC,
          HARMONY,
          DEEPSEEK_V3,
          DEEPSEEK_V3_1,
          MINIMAX_M2,
          MINIMAX_M3,
          KIMI_K3,
          GEMMA,
          INKLING,
          MUSE ->
          null;
    };
  }

  /**
   * Calls that stand by themselves, each with the name of its function at its beginning.
   *
   * @param begin before the name, {@code head} behind it
   */
  record Flat(String trigger, String begin, String head, String style, String end)
      implements CallGrammar {
    @Override
    public Map<String, Object> calls(List<CallableTool> tools, CallDemand demand) {
      return TagNodes.triggered(
          trigger,
          tools.stream()
              .map(it -> TagNodes.tag(begin + it.name() + head, schema(it, style), end))
              .toList(),
          List.of(),
          demand.forced(),
          demand.single());
    }
  }

  /** Calls of GLM 4.7: name, then keys and values, none of whose marks are text. */
  record Glm() implements CallGrammar {
    private static final String OPEN = "<tool_call>";
    private static final String CLOSE = "</tool_call>";
    private static final List<String> INNER =
        List.of("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>");

    @Override
    public Map<String, Object> calls(List<CallableTool> tools, CallDemand demand) {
      var tags =
          tools.stream()
              .map(it -> TagNodes.tag(OPEN + it.name(), schema(it, "glm_xml"), CLOSE))
              .toList();
      return demand.named()
          ? tags.getFirst()
          : TagNodes.triggered(OPEN, tags, marks(List.of(CLOSE)), demand.forced(), demand.single());
    }

    /** Marks are excluded from the text: without this, so would be the end of the thought. */
    @Override
    public boolean describesThoughts() {
      return true;
    }

    @Override
    public List<String> excludedFromThoughts() {
      return marks(List.of(OPEN, CLOSE));
    }

    private static List<String> marks(List<String> ofCalls) {
      var all = new ArrayList<>(List.of("<think>", "</think>"));
      all.addAll(ofCalls);
      all.addAll(INNER);
      return List.copyOf(all);
    }
  }

  /** Calls of DeepSeek V3.2 and V4: a section with one element for each. */
  record Dsml(String section) implements CallGrammar {
    private static final String MARK = "｜DSML｜";

    @Override
    public Map<String, Object> calls(List<CallableTool> tools, CallDemand demand) {
      var tags =
          tools.stream()
              .map(
                  it ->
                      TagNodes.tag(
                          "<" + MARK + "invoke name=\"" + it.name() + "\">\n",
                          schema(it, "deepseek_xml"),
                          "</" + MARK + "invoke>\n"))
              .toList();
      var open = "<" + MARK + section + ">";
      return TagNodes.triggered(
          open,
          List.of(
              TagNodes.tag(
                  open + "\n",
                  TagNodes.adjacent(tags, demand.single()),
                  "</" + MARK + section + ">")),
          List.of(),
          demand.forced(),
          demand.single());
    }
  }

  /** Calls of Kimi K2: a section, in which each call has its function and a number. */
  record KimiK2() implements CallGrammar {
    private static final String OPEN = "<|tool_calls_section_begin|>";
    private static final String CLOSE = "<|tool_calls_section_end|>";

    @Override
    public Map<String, Object> calls(List<CallableTool> tools, CallDemand demand) {
      var tags = tools.stream().map(KimiK2::call).toList();
      if (demand.named()) {
        return TagNodes.sequence(
            List.of(TagNodes.constant(OPEN), tags.getFirst(), TagNodes.constant(CLOSE)));
      }
      var section = TagNodes.adjacent(tags, demand.single());
      return demand.forced()
          ? TagNodes.sequence(List.of(TagNodes.constant(OPEN), section, TagNodes.constant(CLOSE)))
          : TagNodes.triggered(
              OPEN, List.of(TagNodes.tag(OPEN, section, CLOSE)), List.of(), false, demand.single());
    }

    private static Map<String, Object> call(CallableTool tool) {
      return TagNodes.tag(
          "<|tool_call_begin|>functions." + tool.name() + ":",
          TagNodes.sequence(
              List.of(
                  TagNodes.regex("\\d+"),
                  TagNodes.constant("<|tool_call_argument_begin|>"),
                  schema(tool, "json"))),
          "<|tool_call_end|>");
    }
  }

  private static Map<String, Object> schema(CallableTool tool, String style) {
    return TagNodes.schema(tool.schema(), style);
  }
}
