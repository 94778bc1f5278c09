package io.dynamo.worker.engine.trtllm;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.StopReason;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.remote.Chunk;
import io.dynamo.worker.engine.remote.Refusal;
import io.dynamo.worker.engine.remote.SseReader;
import io.dynamo.worker.engine.remote.TokenFields;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the messages of an answer of {@code /v1/completions}, streamed or whole. Without state. */
final class TrtllmReader extends SseReader {
  private static final int[] NONE = {};

  private final int[] clientStops;

  /**
   * @param clientStops ids that the client made end the text; other ends are the model's
   */
  TrtllmReader(int[] clientStops) {
    this.clientStops = clientStops;
  }

  @Override
  protected Chunk readMessage(JsonObject message) {
    var failure = message.members().get("error");
    if (failure != null || "error".equals(message.optionalText("object"))) {
      throw Refusal.of(TrtllmDialect.NAME, failure == null ? message.members() : failure);
    }
    var choices = message.optionalObjects("choices");
    var cached = cachedTokens(message);
    if (choices.isEmpty()) {
      return new Chunk(NONE, null, List.of(), null, null, cached, false, PassedOn.NONE);
    }
    var choice = choices.getFirst();
    var rated = choice.optionalObject("logprobs");
    var finish = choice.optionalText("finish_reason");
    var stop = TokenFields.stop(clientStops, choice.members().get("stop_reason"));
    return new Chunk(
        tokens(choice),
        rated == null ? null : each(rated),
        List.of(),
        finish == null ? null : finish(finish, stop),
        stop,
        cached,
        false,
        passedOn(choice));
  }

  private static int[] tokens(JsonObject choice) {
    if (choice.members().get("token_ids") == null) {
      if (choice.members().get("text") instanceof String text && !text.isEmpty()) {
        throw new IllegalArgumentException("text without token ids: detokenize is not honoured");
      }
      return NONE;
    }
    return TokenFields.ids("token_ids", choice.list("token_ids"));
  }

  private static double[] each(JsonObject rated) {
    return rated.list("token_logprobs").stream().mapToDouble(TokenFields::logprob).toArray();
  }

  private static FinishReason finish(String reason, @Nullable StopReason stop) {
    return switch (reason) {
      case "length", "not_finished" -> FinishReason.LENGTH; // the latter ends a context phase
      case "stop" -> stop == null ? FinishReason.EOS : FinishReason.STOP;
      case "cancelled" ->
          throw new WorkerLostException(
              ErrorCode.BACKEND_ENGINE_SHUTDOWN, "TensorRT-LLM cancelled the generation");
      default ->
          throw new WorkerLostException(
              ErrorCode.BACKEND_STREAM_INCOMPLETE,
              "TensorRT-LLM ended the generation by \"" + reason + "\"");
    };
  }

  private static PassedOn passedOn(JsonObject choice) {
    var transfer = choice.members().get("disaggregated_params");
    return transfer == null ? PassedOn.NONE : PassedOn.of(Map.of("disaggregated_params", transfer));
  }
}
