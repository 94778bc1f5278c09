package io.dynamo.frontend.openai.wire;

/**
 * How an answer is wanted.
 *
 * @param events as a stream of events, not at once
 * @param usage whether a stream ends with a usage chunk
 * @param continuousUsage whether every chunk tells the usage so far
 */
public record StreamWish(boolean events, boolean usage, boolean continuousUsage) {
  static StreamWish read(Fields fields) {
    boolean events = fields.bool("stream");
    var options = fields.get("stream_options");
    if (options == null) {
      return new StreamWish(events, false, false);
    }
    var wishes = Fields.of(options, "stream_options");
    boolean usage = wishes.bool("include_usage");
    boolean continuous = wishes.bool("continuous_usage_stats");
    return new StreamWish(events, usage, usage && continuous);
  }
}
