package io.dynamo.it;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A realtime session by the JDK's WebSocket; each event and the close are kept in their order. */
final class RealtimeClient implements AutoCloseable, WebSocket.Listener {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  static final String UPDATE =
      "{\"type\":\"session.update\",\"session\":{\"type\":\"realtime\",\"model\":\"talker\"}}";

  private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
  private final StringBuilder text = new StringBuilder();
  private final WebSocket socket;

  private RealtimeClient(URI server) {
    socket =
        join(
            HTTP.newWebSocketBuilder()
                .connectTimeout(LIMIT)
                .buildAsync(URI.create("ws://" + server.getAuthority() + "/v1/realtime"), this));
  }

  static RealtimeClient connect(ServerProcess server) {
    return new RealtimeClient(server.uri(""));
  }

  /** A session whose model is chosen. */
  static RealtimeClient talking(ServerProcess server) throws InterruptedException {
    var client = connect(server);
    client.await("\"session.created\"");
    client.send(UPDATE);
    client.await("\"session.updated\"");
    return client;
  }

  WebSocket socket() {
    return socket;
  }

  void send(String event) {
    join(socket.sendText(event, true));
  }

  /** Waits for a step of the client, for a bounded time. */
  static <T> T join(CompletableFuture<T> step) {
    return step.orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS).join();
  }

  /** Waits for the next event or close, which must hold {@code part}. */
  String await(String part) throws InterruptedException {
    var next = heard.poll(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    if (next == null || !next.contains(part)) {
      throw new AssertionError("expected " + part + ", got " + next);
    }
    return next;
  }

  @Override
  public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
    text.append(data);
    if (last) {
      heard.add(text.toString());
      text.setLength(0);
    }
    from.request(1);
    return null;
  }

  @Override
  public @Nullable CompletionStage<?> onClose(WebSocket from, int code, String reason) {
    heard.add("closed " + code + " " + reason);
    return null;
  }

  @Override
  public @Nullable CompletionStage<?> onPong(WebSocket from, ByteBuffer message) {
    heard.add("pong " + message.remaining());
    from.request(1);
    return null;
  }

  @Override
  public void onError(WebSocket from, Throwable error) {
    heard.add("error " + error);
  }

  @Override
  public void close() {
    socket.abort();
  }
}
