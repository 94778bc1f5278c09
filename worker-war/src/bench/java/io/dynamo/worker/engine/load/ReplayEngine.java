package io.dynamo.worker.engine.load;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A server that answers as vLLM 0.32 does, with recorded messages: one token for each event, one
 * event for each write, at a fixed pace.
 */
final class ReplayEngine implements AutoCloseable {
  private static final Pattern LENGTH = Pattern.compile("(?i)\\r\\ncontent-length: *(\\d+)");
  private static final Pattern TOKENS = Pattern.compile("\"max_tokens\":(\\d+)");
  private static final String MODELS =
      "{\"object\":\"list\",\"data\":[{\"id\":\"tiny\",\"object\":\"model\",\"max_model_len\":8192}]}";
  private static final String WHOLE =
      "{\"id\":\"cmpl-1\",\"object\":\"text_completion\",\"choices\":[{\"index\":0,\"text\":\"in\",\"token_ids\":[257]}]}";
  private static final String TOKEN =
      """
      data: {"id":"cmpl-bfc6853c073cb9a7","object":"text_completion","created":1795387757,\
      "model":"tiny","choices":[{"index":0,"text":"in","logprobs":null,"finish_reason":%s,\
      "stop_reason":null,"prompt_token_ids":null,"token_ids":[257]}]}

      """;
  private static final String USAGE =
      """
      data: {"id":"cmpl-bfc6853c073cb9a7","object":"text_completion","created":1795387757,\
      "model":"tiny","choices":[],"usage":{"prompt_tokens":10,"total_tokens":74,\
      "completion_tokens":64,"prompt_tokens_details":{"cached_tokens":0}},\
      "system_fingerprint":"vllm-0.32.0-f44f4243"}

      """;

  private final ServerSocket listener;
  private final int millis;

  /**
   * @param millis between two tokens of a stream
   */
  ReplayEngine(int millis) throws IOException {
    this.millis = millis;
    listener = new ServerSocket(0, 500, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::accept);
  }

  int port() {
    return listener.getLocalPort();
  }

  private void accept() {
    try {
      while (true) {
        var client = listener.accept();
        Thread.ofVirtual().start(() -> serve(client));
      }
    } catch (IOException e) {
      // closed
    }
  }

  private void serve(Socket client) {
    try (client) {
      client.setTcpNoDelay(true);
      var in = new BufferedInputStream(client.getInputStream());
      var out = client.getOutputStream();
      for (var head = head(in); !head.isEmpty(); head = head(in)) {
        int length = number(LENGTH.matcher(head), 0);
        var body = new String(in.readNBytes(length), StandardCharsets.UTF_8);
        var path = head.substring(head.indexOf(' ') + 1, head.indexOf(" HTTP"));
        if (!body.contains("\"stream\":true")) {
          out.write(whole(path));
          continue;
        }
        out.write(
            utf8(
                "HTTP/1.1 200 OK\r\ndate: Tue, 24 Nov 2026 09:02:37 GMT\r\nserver: uvicorn\r\n"
                    + "content-type: text/event-stream; charset=utf-8\r\n"
                    + "transfer-encoding: chunked\r\n\r\n"));
        int tokens = number(TOKENS.matcher(body), 64);
        for (int i = 1; i < tokens; i++) {
          Thread.sleep(millis);
          out.write(chunk(TOKEN.formatted("null")));
        }
        Thread.sleep(millis);
        out.write(chunk(TOKEN.formatted("\"length\"")));
        out.write(chunk(USAGE));
        out.write(chunk("data: [DONE]\n\n"));
        out.write(utf8("0\r\n\r\n"));
      }
    } catch (IOException | InterruptedException e) {
      // the worker is gone
    }
  }

  private static byte[] whole(String path) {
    return switch (path) {
      case "/health", "/metrics" -> answer("200 OK", "");
      case "/v1/models" -> answer("200 OK", MODELS);
      case "/v1/completions" -> answer("200 OK", WHOLE);
      default -> answer("404 Not Found", "");
    };
  }

  private static byte[] answer(String status, String body) {
    return utf8("HTTP/1.1 " + status + "\r\ncontent-length: " + body.length() + "\r\n\r\n" + body);
  }

  /** Reads up to an empty line; returns nothing at the end of the connection. */
  private static String head(InputStream in) throws IOException {
    var head = new StringBuilder();
    while (!head.toString().endsWith("\r\n\r\n")) {
      int read = in.read();
      if (read < 0) {
        return "";
      }
      head.append((char) read);
    }
    return head.toString();
  }

  private static int number(Matcher in, int otherwise) {
    return in.find() ? Integer.parseInt(in.group(1)) : otherwise;
  }

  private static byte[] chunk(String text) {
    return utf8(Integer.toHexString(text.length()) + "\r\n" + text + "\r\n");
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public void close() throws IOException {
    listener.close();
  }
}
