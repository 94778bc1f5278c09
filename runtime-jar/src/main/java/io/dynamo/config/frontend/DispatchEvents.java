package io.dynamo.config.frontend;

/**
 * The further events of chat streams that an operator switches on.
 *
 * @param toolCalls whether each finished tool call is also sent whole
 * @param reasoning whether finished thoughts are also sent whole
 */
public record DispatchEvents(boolean toolCalls, boolean reasoning) {
  /** Streams without further events. */
  public static final DispatchEvents NONE = new DispatchEvents(false, false);
}
