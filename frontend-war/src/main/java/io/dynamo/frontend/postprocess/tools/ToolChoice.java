package io.dynamo.frontend.postprocess.tools;

/** The {@code tool_choice} of a request. */
public sealed interface ToolChoice {
  /** The model must not call. */
  record None() implements ToolChoice {}

  /** The model may call. */
  record Auto() implements ToolChoice {}

  /** The model must call something. */
  record Required() implements ToolChoice {}

  /** The model must call this function. */
  record Named(String function) implements ToolChoice {}
}
