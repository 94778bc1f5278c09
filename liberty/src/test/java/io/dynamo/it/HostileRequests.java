package io.dynamo.it;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import java.util.zip.GZIPOutputStream;

/**
 * Single requests that mean harm, sent one after the other by a thread of its own until closed. The
 * status of each answer is counted by the kind of request; a 5xx other than 503 is a fault.
 */
final class HostileRequests implements AutoCloseable {
  private static final long PAUSE_NANOS = 50_000_000;
  private static final int READ_MILLIS = 10_000;
  private static final String CHAT = "/v1/chat/completions";

  private final int port;
  private final Map<String, byte[]> requests = new LinkedHashMap<>();
  private final Map<String, Map<String, Integer>> answers =
      Collections.synchronizedMap(new TreeMap<>());
  private final Thread sender;
  private volatile boolean over;

  HostileRequests(int port) throws IOException {
    this.port = port;
    fill();
    this.sender = Thread.ofPlatform().name("hostile-requests").unstarted(this::send);
    sender.start();
  }

  private void fill() throws IOException {
    var hello = "\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]";
    var model = "{\"model\":\"" + Cluster.MODEL + "\",";
    add(
        "prompt without a space",
        "/v1/completions",
        model + "\"prompt\":\"" + "a".repeat(8 << 20) + "\"}");
    add("nested", CHAT, model + "\"messages\":" + "[".repeat(100_000));
    add("colliding keys", CHAT, model + collidingKeys() + hello + "}");
    add("many choices", CHAT, model + "\"n\":128," + hello + ",\"max_tokens\":1}");
    add(
        "strict schema",
        CHAT,
        model
            + hello
            + ",\"tools\":["
            + String.join(",", Collections.nCopies(2_000, tool()))
            + "]}");
    add("guided choices", CHAT, model + hello + ",\"guided_choice\":[" + choices() + "]}");
    add("number", CHAT, model + "\"seed\":1" + "0".repeat(399) + "," + hello + "}");
    add("surrogate", CHAT, model + "\"user\":\"\\ud800\"," + hello + "}");
    add("template arguments", CHAT, model + hello + ",\"chat_template_args\":{\"messages\":[]}}");
    add("image", "/v1/images/edits", model + "\"prompt\":\"a\",\"zz\":" + "[{},".repeat(50_000));
    requests.put(
        "image form",
        raw(
            "POST /v1/images/edits HTTP/1.1\r\nHost: a\r\n"
                + "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000\r\n\r\n"
                + "--x\r\n".repeat(200)));
    requests.put(
        "realtime without masks",
        raw(
            "GET /v1/realtime HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
                + "\u0001\u007f".repeat(50)));
    requests.put("gzip", gzip(model + "\"prompt\":\"" + "a".repeat(45 << 20) + "\"}"));
    requests.put(
        "two lengths",
        raw(
            "POST "
                + CHAT
                + " HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"));
    requests.put(
        "unknown coding",
        raw(
            "POST "
                + CHAT
                + " HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                + "Content-Length: 2\r\nTransfer-Encoding: xchunked\r\n\r\n{}"));
    requests.put(
        "foreign page",
        raw(
            "GET /router/explain HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n\r\n"));
    requests.put(
        "slow administrator",
        raw(
            "POST /busy_threshold HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                + "Content-Length: 100\r\n\r\n{"));
  }

  private static String tool() {
    return "{\"type\":\"function\",\"function\":{\"name\":\"f\",\"strict\":true,\"parameters\":"
        + "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/A\"}}}}}";
  }

  private static String choices() {
    var all = new ArrayList<String>();
    for (int i = 0; i < 20_000; i++) {
      all.add("\"choice " + i + "\"");
    }
    return String.join(",", all);
  }

  /** "Aa" and "BB" have one hash, and so have all words made of as many of them. */
  private static String collidingKeys() {
    var keys = new StringBuilder();
    for (int i = 0; i < 512; i++) {
      keys.append('"');
      for (int bit = 0; bit < 9; bit++) {
        keys.append((i >> bit & 1) == 0 ? "Aa" : "BB");
      }
      keys.append("\":1,");
    }
    return keys.toString();
  }

  private void add(String kind, String path, String body) {
    requests.put(kind, raw(head(path, body.length(), "") + body));
  }

  private static String head(String path, int length, String more) {
    return "POST "
        + path
        + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: "
        + length
        + "\r\n"
        + more
        + "Connection: close\r\n\r\n";
  }

  private static byte[] gzip(String body) throws IOException {
    var packed = new ByteArrayOutputStream();
    try (var zip = new GZIPOutputStream(packed)) {
      zip.write(raw(body));
    }
    var whole = new ByteArrayOutputStream();
    whole.writeBytes(raw(head("/v1/completions", packed.size(), "Content-Encoding: gzip\r\n")));
    whole.writeBytes(packed.toByteArray());
    return whole.toByteArray();
  }

  private static byte[] raw(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private void send() {
    while (!over) {
      for (var request : requests.entrySet()) {
        if (over) {
          return;
        }
        var answer = exchange(request.getValue());
        answers
            .computeIfAbsent(request.getKey(), _ -> new TreeMap<>())
            .merge(answer, 1, Integer::sum);
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  /** The status of the answer, or how there was none. */
  private String exchange(byte[] request) {
    try (var socket = new Socket()) {
      socket.setSoTimeout(READ_MILLIS);
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), READ_MILLIS);
      try {
        socket.getOutputStream().write(request);
      } catch (IOException _) {
        // answered before it was sent whole
      }
      var line = new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII);
      return line.length() == 12 ? line.substring(9) : "closed";
    } catch (IOException e) {
      return e.getClass().getSimpleName();
    }
  }

  /** How often each kind was answered with what. */
  Map<String, Map<String, Integer>> answers() {
    return answers;
  }

  /** Answers that no request may cause. */
  List<String> faults() {
    var faults = new ArrayList<String>();
    answers.forEach(
        (kind, counts) ->
            counts.forEach(
                (answer, count) -> {
                  if (answer.startsWith("5") && !answer.equals("503")) {
                    faults.add("%s: %d x %s".formatted(kind, count, answer));
                  }
                }));
    return faults;
  }

  @Override
  public void close() {
    over = true;
    LockSupport.unpark(sender);
    try {
      sender.join(READ_MILLIS * 2L);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
