package io.dynamo.frontend.kserve;

import java.util.List;

/** The names of the tensors of models that continue texts, as Dynamo has them. */
public final class TextTensors {
  /** The text to be continued. */
  public static final String TEXT_INPUT = "text_input";

  /** Whether the answer comes in parts. */
  public static final String STREAMING = "streaming";

  /** Another name of {@link #STREAMING}. */
  public static final String STREAM = "stream";

  public static final String TEXT_OUTPUT = "text_output";

  public static final String FINISH_REASON = "finish_reason";

  /** The outputs, in order. */
  public static final List<String> OUTPUTS = List.of(TEXT_OUTPUT, FINISH_REASON);

  private TextTensors() {}
}
