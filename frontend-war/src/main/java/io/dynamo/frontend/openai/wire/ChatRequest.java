package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.media.MediaPart;
import io.dynamo.frontend.postprocess.tools.ToolChoice;
import io.dynamo.inference.PassedOn;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A checked request for a chat completion.
 *
 * @param tools values as JSON has them; none when the model must not call
 * @param parallelCalls whether an answer may have more than one call
 * @param templateArgs {@code chat_template_args} and {@code chat_template_kwargs}, with what the
 *     reasoning controls add
 * @param addGenerationPrompt whether the prompt ends with the start of an answer
 * @param continueFinal whether the final message is left open, to be continued
 * @param media what workers get beside the images, audio and video of the messages
 * @param parts images, audio and video, in the order of the messages
 * @param responseFormat as the request has it; null for text
 */
public record ChatRequest(
    GenerationFields fields,
    List<ChatMessage> messages,
    List<Map<String, Object>> tools,
    ToolChoice toolChoice,
    boolean parallelCalls,
    Map<String, Object> templateArgs,
    boolean addGenerationPrompt,
    boolean continueFinal,
    PassedOn media,
    List<MediaPart> parts,
    @Nullable Map<String, Object> responseFormat) {
  public ChatRequest {
    parts = List.copyOf(parts);
    messages = List.copyOf(messages);
    tools = List.copyOf(tools);
  }
}
