package io.dynamo.worker.engine.remote;

import io.dynamo.worker.engine.EmbeddingDescription;
import java.io.IOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The differences between the embeddings of several servers, all of which have OpenAI's {@code
 * /v1/embeddings}. Safe for concurrent use.
 */
public interface EmbeddingDialect {
  /** Returns the kind of server, for messages. */
  String engine();

  /**
   * Asks a server for its limits, except for the length of its vectors.
   *
   * @throws IOException when the server is not ready yet
   * @throws IllegalArgumentException when the server is not of this kind, or cannot be used
   */
  Facts ask(EngineHttp http) throws IOException, InterruptedException;

  /** Returns a prompt as an element of the request's {@code input}. */
  Object input(int[] prompt);

  /**
   * Returns further members of a request.
   *
   * @param dimensions as asked for; null for the model's own
   */
  Map<String, ?> options(@Nullable Integer dimensions);

  /** Returns how to start a server that refuses embeddings, for messages. */
  String advice();

  /**
   * The limits of a server.
   *
   * @param model the name under which it serves
   * @param positions tokens that one prompt may have
   * @param vocabulary number of token ids
   */
  record Facts(String model, int positions, int vocabulary) {
    EmbeddingDescription description(int width) {
      return new EmbeddingDescription(positions, vocabulary, width);
    }
  }
}
