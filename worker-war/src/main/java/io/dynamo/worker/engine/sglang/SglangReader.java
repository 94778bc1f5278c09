package io.dynamo.worker.engine.sglang;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.error.WorkerLostException;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.Logprobs.Top;
import io.dynamo.inference.PassedOn;
import io.dynamo.inference.StopReason;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.remote.Chunk;
import io.dynamo.worker.engine.remote.Refusal;
import io.dynamo.worker.engine.remote.SseReader;
import io.dynamo.worker.engine.remote.TokenFields;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the messages of one answer of {@code /generate}, streamed or whole. Each has the tokens of
 * the whole text so far, or only the new ones where the server runs with {@code
 * --incremental-streaming-output}; the count of all tokens in it tells which. For one thread.
 */
final class SglangReader extends SseReader {
  static {
    Json.expect(
        "output_ids",
        "meta_info",
        "type",
        "length",
        "matched",
        "weight_version",
        "dp_rank",
        "num_retractions",
        "cached_tokens_details",
        "device",
        "host",
        "storage",
        "e2e_latency",
        "response_sent_to_client_ts",
        "output_token_logprobs",
        "output_top_logprobs");
  }

  private final int[] clientStops;
  private final int alternatives;
  private int made; // tokens returned so far
  private boolean incremental; // once a message showed it

  /**
   * @param clientStops ids that the client made end the text; other ends are the model's
   * @param alternatives likely tokens reported with each token
   */
  SglangReader(int[] clientStops, int alternatives) {
    this.clientStops = clientStops;
    this.alternatives = alternatives;
  }

  @Override
  protected Chunk readMessage(JsonObject message) {
    var failure = message.members().get("error");
    if (failure != null) {
      throw failed(failure);
    }
    var meta = message.object("meta_info");
    var tokens = tokens(message, meta);
    var finish = meta.optionalObject("finish_reason");
    var stop =
        finish == null ? null : TokenFields.stop(clientStops, finish.members().get("matched"));
    return new Chunk(
        tokens,
        each(meta, tokens.length),
        top(meta, tokens.length),
        finish == null ? null : finish(finish, stop),
        stop,
        meta.optionalCount("cached_tokens"),
        false,
        PassedOn.NONE);
  }

  /** A failure without a code that comes first is the server's check of the request. */
  private RuntimeException failed(Object failure) {
    if (made == 0 && failure instanceof Map<?, ?> map && !(map.get("code") instanceof Number)) {
      return new InvalidRequestException(
          "%s answers: %s".formatted(SglangDialect.NAME, map.get("message")));
    }
    return Refusal.of(SglangDialect.NAME, failure);
  }

  private int[] tokens(JsonObject message, JsonObject meta) {
    var ids = TokenFields.ids("output_ids", message.list("output_ids"));
    int total = meta.count("completion_tokens");
    if (made > 0 && ids.length != total && made + ids.length == total) {
      incremental = true;
    }
    var fresh = ids;
    if (!incremental) {
      if (ids.length < made) {
        throw new IllegalArgumentException(
            "%d tokens after %d, of %d in all".formatted(ids.length, made, total));
      }
      fresh = made == 0 ? ids : Arrays.copyOfRange(ids, made, ids.length);
    }
    made += fresh.length;
    return fresh;
  }

  private static FinishReason finish(JsonObject reason, @Nullable StopReason stop) {
    var type = reason.text("type");
    return switch (type) {
      case "length" -> FinishReason.LENGTH;
      case "stop" -> stop == null ? FinishReason.EOS : FinishReason.STOP;
      case "abort" -> throw aborted(reason);
      default ->
          throw new WorkerLostException(
              ErrorCode.BACKEND_STREAM_INCOMPLETE,
              "SGLang ended the generation by \"" + type + "\"");
    };
  }

  private static RuntimeException aborted(JsonObject reason) {
    var status = reason.members().get("status_code");
    if (status instanceof Number code) {
      return Refusal.of(
          SglangDialect.NAME,
          Map.of("code", code, "message", String.valueOf(reason.members().get("message"))));
    }
    return new WorkerLostException(
        ErrorCode.BACKEND_ENGINE_SHUTDOWN, "SGLang aborted the generation");
  }

  /** Returns the log probabilities of the {@code count} last tokens. */
  private static double @Nullable [] each(JsonObject meta, int count) {
    if (meta.members().get("output_token_logprobs") == null) {
      return null;
    }
    var each = new double[count];
    int at = 0;
    for (var entry : last(meta, "output_token_logprobs", count)) {
      each[at++] = TokenFields.logprob(triple(entry).getFirst());
    }
    return each;
  }

  private List<List<Top>> top(JsonObject meta, int count) {
    if (alternatives == 0 || meta.members().get("output_top_logprobs") == null) {
      return List.of();
    }
    var positions = new ArrayList<List<Top>>();
    for (var position : last(meta, "output_top_logprobs", count)) {
      var ranked = new ArrayList<Top>();
      if (position instanceof List<?> likely) {
        for (var entry : likely.subList(0, Math.min(alternatives, likely.size()))) {
          var triple = triple(entry);
          ranked.add(
              new Top(
                  ranked.size() + 1,
                  id(triple),
                  null,
                  TokenFields.logprob(triple.getFirst()),
                  null));
        }
      }
      positions.add(ranked);
    }
    return positions;
  }

  private static List<@Nullable Object> last(JsonObject meta, String name, int count) {
    var all = meta.list(name);
    if (all.size() < count) {
      throw new IllegalArgumentException(
          "%d tokens come with %d of %s".formatted(count, all.size(), name));
    }
    return all.subList(all.size() - count, all.size());
  }

  /** Returns a log probability, a token id and its text. */
  private static List<?> triple(@Nullable Object entry) {
    if (entry instanceof List<?> triple && triple.size() >= 2) {
      return triple;
    }
    throw new IllegalArgumentException("a log probability that is no triple");
  }

  private static int id(List<?> triple) {
    if (triple.get(1) instanceof Integer id) {
      return id;
    }
    throw new IllegalArgumentException("a log probability without a token id");
  }
}
