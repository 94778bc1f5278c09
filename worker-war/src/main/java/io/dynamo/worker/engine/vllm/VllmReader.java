package io.dynamo.worker.engine.vllm;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Logprobs.Top;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.StopReason;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.remote.Chunk;
import io.dynamo.worker.engine.remote.Refusal;
import io.dynamo.worker.engine.remote.SseReader;
import io.dynamo.worker.engine.remote.TokenFields;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the messages of vLLM's answers, streamed or whole: those of {@code /v1/completions}, of
 * chats and of {@code /inference/v1/generate}, as far as they carry token ids. Without state.
 */
final class VllmReader extends SseReader {
  private static final String ID_TEXT = "token_id:";
  private static final int[] NONE = {};

  private final int[] clientStops;
  private final int alternatives;

  /**
   * @param clientStops ids that the client made end the text; other ends are the model's
   * @param alternatives likely tokens reported with each token
   */
  VllmReader(int[] clientStops, int alternatives) {
    this.clientStops = clientStops;
    this.alternatives = alternatives;
  }

  @Override
  protected Chunk readMessage(JsonObject message) {
    var failure = message.members().get("error");
    if (failure != null) {
      throw Refusal.of(VllmDialect.NAME, failure);
    }
    var choices = message.optionalObjects("choices");
    var cached = cachedTokens(message);
    if (choices.isEmpty()) {
      return new Chunk(NONE, null, List.of(), null, null, cached, false, PassedOn.NONE);
    }
    var choice = choices.getFirst();
    var tokens = tokens(choice);
    var rated = choice.optionalObject("logprobs");
    var finish = choice.optionalText("finish_reason");
    var stop = TokenFields.stop(clientStops, choice.members().get("stop_reason"));
    return new Chunk(
        tokens,
        rated == null ? null : each(rated),
        rated == null ? List.of() : top(rated),
        finish == null ? null : finish(finish, stop),
        stop,
        cached,
        false,
        passedOn(message));
  }

  private static int[] tokens(JsonObject choice) {
    if (choice.members().get("token_ids") == null) {
      var text = choice.members().get("text");
      if (text instanceof String some && !some.isEmpty()) {
        throw new IllegalArgumentException("text without token ids: return_token_ids is unknown");
      }
      return NONE;
    }
    return TokenFields.ids("token_ids", choice.list("token_ids"));
  }

  private static FinishReason finish(String reason, @Nullable StopReason stop) {
    return switch (reason) {
      case "length" -> FinishReason.LENGTH;
      case "stop" -> stop == null ? FinishReason.EOS : FinishReason.STOP;
      case "tool_calls", "repetition" -> FinishReason.STOP;
      case "content_filter" -> FinishReason.CONTENT_FILTER;
      case "abort" ->
          throw new WorkerLostException(
              ErrorCode.BACKEND_ENGINE_SHUTDOWN, "vLLM aborted the generation");
      default ->
          throw new WorkerLostException(
              ErrorCode.BACKEND_STREAM_INCOMPLETE,
              "vLLM ended the generation by \"" + reason + "\"");
    };
  }

  private static double @Nullable [] each(JsonObject rated) {
    if (rated.members().get("content") instanceof List<?>) { // not of /v1/completions
      return rated.optionalObjects("content").stream()
          .mapToDouble(token -> TokenFields.logprob(token.members().get("logprob")))
          .toArray();
    }
    var values = rated.list("token_logprobs");
    var each = new double[values.size()];
    for (int i = 0; i < each.length; i++) {
      each[i] = TokenFields.logprob(values.get(i));
    }
    return each;
  }

  private List<List<Top>> top(JsonObject rated) {
    var positions = new ArrayList<List<Top>>();
    for (var token : rated.optionalObjects("content")) {
      positions.add(likeliest(token.optionalObjects("top_logprobs")));
    }
    if (!positions.isEmpty()) {
      return positions;
    }
    for (var position : rated.list("top_logprobs")) {
      positions.add(position instanceof Map<?, ?> likely ? ranked(likely) : List.of());
    }
    return positions;
  }

  /**
   * Returns the likeliest tokens of a route that lists the drawn one first, whether it is one of
   * them or not.
   */
  private List<Top> likeliest(List<JsonObject> listed) {
    var likely = new ArrayList<Top>();
    for (var token : listed) {
      var rank = token.optionalCount("rank");
      if (rank == null) {
        return likeliestUnranked(listed);
      }
      if (rank <= alternatives) {
        likely.add(top(rank, token));
      }
    }
    likely.sort(Comparator.comparingInt(Top::rank));
    return likely;
  }

  private List<Top> likeliestUnranked(List<JsonObject> listed) {
    var sorted = new ArrayList<>(listed);
    sorted.sort(
        Comparator.comparingDouble(token -> -TokenFields.logprob(token.members().get("logprob"))));
    var likely = new ArrayList<Top>();
    for (var token : sorted.subList(0, Math.min(alternatives, sorted.size()))) {
      likely.add(top(likely.size() + 1, token));
    }
    return likely;
  }

  private static Top top(int rank, JsonObject token) {
    var id = token.optionalCount("token_id");
    return new Top(
        rank,
        id == null ? id(token.text("token")) : id,
        null,
        TokenFields.logprob(token.members().get("logprob")),
        null);
  }

  /** The server adds the drawn token where it is not among the likeliest; it is not one of them. */
  private List<Top> ranked(Map<?, ?> likely) {
    var sorted = new ArrayList<Map.Entry<?, ?>>(likely.entrySet());
    sorted.sort(Comparator.comparingDouble(entry -> -TokenFields.logprob(entry.getValue())));
    var ranked = new ArrayList<Top>();
    for (var entry : sorted.subList(0, Math.min(alternatives, sorted.size()))) {
      ranked.add(
          new Top(
              ranked.size() + 1,
              id(String.valueOf(entry.getKey())),
              null,
              TokenFields.logprob(entry.getValue()),
              null));
    }
    return ranked;
  }

  private static int id(String token) {
    if (token.startsWith(ID_TEXT)) {
      return Integer.parseInt(token.substring(ID_TEXT.length()));
    }
    throw new IllegalArgumentException("a log probability of \"" + token + "\", which is no id");
  }

  private static PassedOn passedOn(JsonObject message) {
    var transfer = message.members().get("kv_transfer_params");
    if (transfer == null) {
      return PassedOn.NONE;
    }
    var params = new LinkedHashMap<String, Object>();
    params.put("kv_transfer_params", transfer);
    return PassedOn.of(Map.of("disaggregated_params", params));
  }
}
