package io.dynamo.frontend.openai.wire;

/**
 * How the client wants its answer: at once or as a stream, and with which usage counts.
 *
 * @param events whether as a stream of events
 * @param usage whether a stream ends with a usage chunk
 * @param continuousUsage whether every chunk carries the usage so far
 */
public record StreamOptions(boolean events, boolean usage, boolean continuousUsage) {
  static StreamOptions read(JsonFields fields) {
    boolean events = fields.bool("stream");
    var node = fields.get("stream_options");
    if (node == null) {
      return new StreamOptions(events, false, false);
    }
    var options = JsonFields.of(node, "stream_options");
    boolean usage = options.bool("include_usage");
    boolean continuous = options.bool("continuous_usage_stats");
    return new StreamOptions(events, usage, usage && continuous);
  }
}
