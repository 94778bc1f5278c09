package io.dynamo.frontend.postprocess.tools;

import io.dynamo.frontend.postprocess.message.MessageParser;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * How a family frames the parts of its answers: each part has a header that names its kind.
 *
 * @param start before a header
 * @param header matches a header to its last character; of bounded length
 * @param bodies the markers that end a header
 * @param ends the markers that end a part; after the last one nothing follows
 * @param kind finds the kind of a part by its header and by which of {@code bodies} ended it
 * @param call a reader of the body of a call
 */
record RoutedFormat(
    String start,
    Pattern header,
    List<String> bodies,
    List<String> ends,
    KindFinder kind,
    Function<ToolSchemas, MessageParser> call) {
  /** The kind of a part. */
  enum Kind {
    THOUGHT,
    TEXT,
    CALL
  }

  /** Finds the kind of a part. */
  interface KindFinder {
    Kind of(String header, int body);
  }

  /** Typed blocks; the header may name the tool, which the call does too. */
  static final RoutedFormat INKLING =
      new RoutedFormat(
          "<|message_model|>",
          Pattern.compile("[ \\t\\r\\n]{0,16}[A-Za-z0-9_.:/-]{0,128}[ \\t\\r\\n]{0,16}"),
          List.of(
              "<|content_thinking|>",
              "<|content_invoke_tool_json|>",
              "<|content_text|>",
              "<|content_invoke_tool_text|>",
              "<|content_tool_error|>"),
          List.of("<|end_message|>", "<|content_model_end_sampling|>"),
          (_, body) -> body == 0 ? Kind.THOUGHT : body == 1 ? Kind.CALL : Kind.TEXT,
          _ -> new LoneCall("args"));

  private static final Pattern RECIPIENT =
      Pattern.compile("[ \\t]{0,16}(?:assistant)?[ \\t]{0,16}(?:to=([^\\s<]{1,128}))?[ \\t]{0,16}");

  /** Messages to the model itself, to the user, or to a tool. */
  static final RoutedFormat MUSE =
      new RoutedFormat(
          "<|start|>",
          RECIPIENT,
          List.of("<|message|>"),
          List.of("<|eom|>", "<|eot|>"),
          (header, _) -> recipient(header),
          schemas -> new TaggedCalls(TaggedFormat.MUSE, schemas));

  private static Kind recipient(String header) {
    var match = RECIPIENT.matcher(header);
    var to = match.matches() ? match.group(1) : null;
    if (to == null || to.equals("user")) {
      return Kind.TEXT;
    }
    return to.equals("self") ? Kind.THOUGHT : Kind.CALL;
  }
}
