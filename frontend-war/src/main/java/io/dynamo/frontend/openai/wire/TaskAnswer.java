package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.inference.TaskOutput;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes a worker's answer to a task for the client, as the worker gave it. */
public final class TaskAnswer {
  private TaskAnswer() {}

  /**
   * The answer as UTF-8 JSON.
   *
   * @throws EngineFailedException when it does not have the form of {@code kind}
   */
  public static byte[] write(TaskRequest.Kind kind, TaskOutput output) {
    boolean isKnown =
        switch (kind) {
          case RERANK -> output.json() instanceof List<?>;
          case CLASSIFY, POOLING, IMAGES, IMAGE_EDITS, VIDEOS, VIDEO_FRAMES, SPEECH ->
              output.json() instanceof Map<?, ?> map && map.get("data") instanceof List<?>;
        };
    if (!isKnown) {
      throw broken(kind, null);
    }
    try {
      return JsonBody.write(output.json());
    } catch (JsonProcessingException e) {
      throw broken(kind, e);
    }
  }

  /** The tokens of the prompts as the worker counted them; 0 when it does not say. */
  public static int promptTokens(TaskOutput output) {
    return output.json() instanceof Map<?, ?> map
            && map.get("usage") instanceof Map<?, ?> usage
            && usage.get("prompt_tokens") instanceof Number tokens
        ? Math.max(0, tokens.intValue())
        : 0;
  }

  private static EngineFailedException broken(TaskRequest.Kind kind, @Nullable Exception cause) {
    return new EngineFailedException(
        ErrorCode.BACKEND_UNKNOWN,
        "the worker's answer is none to a request of " + kind.endpoint(),
        cause);
  }
}
