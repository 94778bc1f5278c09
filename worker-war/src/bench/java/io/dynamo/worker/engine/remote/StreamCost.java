package io.dynamo.worker.engine.remote;

import com.sun.management.OperatingSystemMXBean;
import com.sun.management.ThreadMXBean;
import io.dynamo.inference.PassedOn;
import io.dynamo.json.JsonObject;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures what it costs a worker to receive one token of an engine's server: a process that sends
 * messages of vLLM's form at a fixed pace, and this one, which reads them as a generation does.
 *
 * <p>{@code java -cp <class path of worker-war>
 * worker-war/src/bench/java/io/dynamo/worker/engine/remote/StreamCost.java read <streams>
 * <milliseconds between tokens>}
 */
public final class StreamCost {
  private static final int TOKENS = 100; // of each answer
  private static final int WARM_UP_SECONDS = 15;
  private static final int ROUNDS = 3;
  private static final int SECONDS = 5; // of each round
  private static final String MESSAGE =
      """
      data: {"id":"cmpl-1","object":"text_completion","created":1795222250,"model":"tiny",\
      "choices":[{"index":0,"text":" word","logprobs":null,"finish_reason":null,"stop_reason":null,\
      "token_ids":[220],"prompt_token_ids":null}],"usage":{"prompt_tokens":34,"total_tokens":36,\
      "completion_tokens":2,"completion_tokens_details":null}}

      """;

  private static final SseReader READER =
      new SseReader() {
        @Override
        protected Chunk readMessage(JsonObject message) {
          var choice = message.optionalObjects("choices").getFirst();
          var tokens = TokenFields.ids("token_ids", choice.list("token_ids"));
          return new Chunk(tokens, null, List.of(), null, null, null, false, PassedOn.NONE);
        }
      };

  private StreamCost() {}

  public static void main(String[] args) throws Exception {
    if (args[0].equals("send")) {
      send(Integer.parseInt(args[1]));
      return;
    }
    int streams = Integer.parseInt(args[1]);
    var server =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-cp",
                System.getProperty("java.class.path"),
                System.getProperty("jdk.launcher.sourcefile", StreamCost.class.getName()),
                "send",
                args[2])
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      var port = server.inputReader().readLine();
      measure(URI.create("http://127.0.0.1:" + port), streams);
    } finally {
      server.destroyForcibly().waitFor();
    }
    System.exit(0);
  }

  private static void measure(URI server, int streams) throws InterruptedException {
    var tokens = new LongAdder();
    var http = new EngineHttp("bench", server, "none", null, null, 1 << 20);
    for (int i = 0; i < streams; i++) {
      Thread.ofVirtual().start(() -> readAll(http, tokens));
    }
    Thread.sleep(WARM_UP_SECONDS * 1000L);
    var system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    for (int round = 0; round < ROUNDS; round++) {
      long before = tokens.sum();
      long cpu = system.getProcessCpuTime();
      long bytes = threads.getTotalThreadAllocatedBytes();
      Thread.sleep(SECONDS * 1000L);
      long received = Math.max(1, tokens.sum() - before);
      System.out.printf(
          "%d streams, %d tokens/s: %.1f us CPU and %d bytes per token%n",
          streams,
          received / SECONDS,
          (system.getProcessCpuTime() - cpu) / 1e3 / received,
          (threads.getTotalThreadAllocatedBytes() - bytes) / received);
    }
  }

  private static void readAll(EngineHttp http, LongAdder tokens) {
    var reader = Thread.currentThread();
    while (true) {
      try (var exchange =
          http.stream("/v1/completions", new byte[0], Map.of(), () -> LockSupport.unpark(reader))) {
        while (true) {
          var line = exchange.line();
          if (line == null) {
            if (exchange.isOver()) { // looked at after the line, as it may have become so meanwhile
              break;
            }
            LockSupport.park();
            continue;
          }
          var chunk = READER.read(line);
          tokens.add(chunk == null ? 0 : chunk.tokens().length);
        }
      } catch (IOException e) {
        return; // the server is gone
      }
    }
  }

  private static void send(int millis) throws IOException {
    try (var listener = new ServerSocket(0, 500, InetAddress.getLoopbackAddress())) {
      System.out.println(listener.getLocalPort());
      while (true) {
        var client = listener.accept();
        Thread.ofVirtual().start(() -> answer(client, millis));
      }
    }
  }

  private static void answer(Socket client, int millis) {
    try (client) {
      client.setTcpNoDelay(true);
      var in = new BufferedInputStream(client.getInputStream());
      var out = client.getOutputStream();
      while (readHead(in)) {
        out.write(
            utf8(
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                    + "transfer-encoding: chunked\r\n\r\n"));
        for (int i = 0; i < TOKENS; i++) {
          Thread.sleep(millis);
          out.write(chunk(MESSAGE));
        }
        out.write(chunk("data: [DONE]\n\n"));
        out.write(utf8("0\r\n\r\n"));
      }
    } catch (IOException | InterruptedException e) {
      // the reader is gone
    }
  }

  /** Reads up to an empty line; the bodies of requests are empty. */
  private static boolean readHead(InputStream in) throws IOException {
    int ends = 0;
    while (ends < 4) {
      int read = in.read();
      if (read < 0) {
        return false;
      }
      ends = read == '\r' || read == '\n' ? ends + 1 : 0;
    }
    return true;
  }

  private static byte[] chunk(String text) {
    return utf8(Integer.toHexString(text.length()) + "\r\n" + text + "\r\n");
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
