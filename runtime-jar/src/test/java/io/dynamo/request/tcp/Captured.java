package io.dynamo.request.tcp;

import io.dynamo.wire.Golden;
import java.io.ByteArrayOutputStream;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Captures with the few bytes changed that name places of the machine they were taken on. */
final class Captured {
  static final byte[] END_MARK = Golden.frames("chat-stream.w2f.bin").get(7).body();
  static final byte[] CHAT = Golden.bytes("request-tcp/chat-stream.request.bin");
  static final String CHAT_PATH = TestPlane.ID.hex() + "/" + TestPlane.ENDPOINT;
  static final String CHAT_SUBJECT = "e6e341e8-4ef7-450f-80b1-c1914b5c58ee";

  private static final Pattern ADDRESS = Pattern.compile("\\\\\"address\\\\\":\\\\\"[^\"\\\\]+");
  private static final Pattern SUBJECT = Pattern.compile("\\\\\"subject\\\\\":\\\\\"([^\"\\\\]+)");

  private Captured() {}

  /** The captured chat, to be answered at {@code home}. */
  static byte[] chat(ServerSocket home) {
    return toPath(CHAT_PATH, home);
  }

  /** The captured chat, to be answered at that port of loopback. */
  static byte[] chat(int homePort) {
    return patched(Golden.request("chat-stream"), CHAT_PATH, homePort);
  }

  static byte[] toPath(String path, ServerSocket home) {
    return patched(Golden.request("chat-stream"), path, home);
  }

  static byte[] patched(Golden.Request request, String path, ServerSocket home) {
    return patched(request, path, home.getLocalPort());
  }

  private static byte[] patched(Golden.Request request, String path, int homePort) {
    var control = new String(request.payload().header(), StandardCharsets.UTF_8);
    var address = "127.0.0.1:" + homePort;
    var patched =
        ADDRESS
            .matcher(control)
            .replaceAll(Matcher.quoteReplacement("\\\"address\\\":\\\"" + address));
    return RawPeer.request(
        path.getBytes(StandardCharsets.UTF_8),
        request.headers(),
        RawPeer.frame(patched, request.payload().body()));
  }

  static String subject(Golden.Request request) {
    var found = SUBJECT.matcher(new String(request.payload().header(), StandardCharsets.UTF_8));
    if (!found.find()) {
      throw new AssertionError("no subject in the control message");
    }
    return found.group(1);
  }

  /** Where the worker of {@code request} is to deliver. */
  static String home(Golden.Request request) {
    var control = new String(request.payload().header(), StandardCharsets.UTF_8);
    var found = ADDRESS.matcher(control);
    if (!found.find()) {
      throw new AssertionError("no address in the control message");
    }
    return found.group().substring(found.group().lastIndexOf('"') + 1);
  }

  /** A captured answer under another name of the stream; all after the handshake is as captured. */
  static byte[] answer(String name, String subject) {
    var bytes = ByteBuffer.wrap(Golden.bytes("response-stream/" + name));
    Golden.frame(bytes);
    var rest = new byte[bytes.remaining()];
    bytes.get(rest);
    var out = new ByteArrayOutputStream();
    out.writeBytes(handshake(subject));
    out.writeBytes(rest);
    return out.toByteArray();
  }

  static byte[] handshake(String subject) {
    return RawPeer.frame(
        "{\"subject\":\"%s\",\"stream_type\":\"response\"}".formatted(subject), new byte[0]);
  }
}
