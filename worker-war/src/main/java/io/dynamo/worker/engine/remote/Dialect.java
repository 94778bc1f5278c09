package io.dynamo.worker.engine.remote;

import io.dynamo.error.DynamoException;
import io.dynamo.error.InvalidRequestException;
import io.dynamo.inference.GenerateRequest;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Speaks to one kind of engine server. Safe for concurrent use after {@link #ask}. */
public interface Dialect {
  /** Returns the name of the engine, for messages. */
  String engine();

  /** Returns the path at which the server gives its metrics as Prometheus' text. */
  String metricsPath();

  /**
   * Asks the server for its limits; called once or more at the start.
   *
   * @throws IOException when the server is not ready yet
   * @throws IllegalArgumentException when the server cannot be used; the message says why
   */
  RemoteFacts ask(EngineHttp http) throws IOException, InterruptedException;

  /**
   * Writes a request for the server.
   *
   * @param budget tokens to generate
   * @param rank the data-parallel rank; null when the server has one
   * @throws InvalidRequestException when the server does not support an option of the request
   */
  Call call(GenerateRequest request, int budget, @Nullable Integer rank);

  /** Converts an answer other than 200 to an exception. */
  DynamoException refusal(int status, byte[] body);

  /**
   * Empties the server's KV caches.
   *
   * @throws IllegalStateException when the server refuses; the message says why
   */
  void clearCache(EngineHttp http) throws IOException, InterruptedException;

  /**
   * Loads a LoRA adapter into the server.
   *
   * @throws IllegalArgumentException when the server refuses; the message says why
   */
  void loadAdapter(EngineHttp http, String name, Path directory)
      throws IOException, InterruptedException;

  /** Unloads a LoRA adapter; unknown names are ignored. */
  void unloadAdapter(EngineHttp http, String name) throws IOException, InterruptedException;

  /**
   * A request to the server.
   *
   * @param reader reads its answer; used by one thread
   * @param maxTokens more tokens in the answer are a fault of the server
   * @param abort what tells the server to end the generation early; null when closing the
   *     connection is all there is
   */
  record Call(
      String path,
      byte[] body,
      Map<String, String> headers,
      Reader reader,
      int maxTokens,
      @Nullable Abort abort) {
    public Call {
      headers = Map.copyOf(headers);
    }
  }

  /** A request that ends a generation of the server; its answer means nothing. */
  record Abort(String path, byte[] body) {}

  /** Reads the answer to one request, line by line. */
  interface Reader {
    /**
     * @return null for a line without a message
     * @throws DynamoException when the server reports a failure
     * @throws IllegalArgumentException when the line is not the server's
     */
    @Nullable Chunk read(byte[] line);
  }
}
