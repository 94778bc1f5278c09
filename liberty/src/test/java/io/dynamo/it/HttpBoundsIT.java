package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bounds on clients of the HTTP port that misbehave under TLS. */
@Sampled
class HttpBoundsIT {
  private static final int CONNECTIONS = 20;

  /** Bodies that stop at the same time. */
  private static final int AT_ONCE = 12;

  /** Of the test's own client, beside those that a test opens. */
  private static final int OTHERS = 5;

  /** Many times the limits that the server has here; a client waits no longer. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @TempDir static Path folder;

  @SuppressWarnings("NullAway.Init") // before all
  private static ServerProcess server;

  @SuppressWarnings("NullAway.Init") // before all
  private static SSLContext tls;

  private final List<Socket> opened = new ArrayList<>();

  @BeforeAll
  static void start() throws Exception {
    var identities = new Identities(folder, "server");
    tls = identities.client(null);
    server =
        ServerProcess.Plan.named("bounds")
            .with("DYN_TLS_CERT_PATH", identities.certificateFile("server").toString())
            .with("DYN_TLS_KEY_PATH", identities.keyFile("server").toString())
            .with("DYNAMO_FRONTEND_UPLOAD_TIMEOUT", "2s")
            .with("DYNAMO_HTTP_MAX_CONNECTIONS", Integer.toString(CONNECTIONS))
            .over(tls)
            .start()
            .awaitReady();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @AfterEach
  void hangUp() throws IOException {
    for (var socket : opened) {
      socket.close();
    }
  }

  private Socket connect() throws IOException {
    var socket = new Socket();
    opened.add(socket);
    socket.setSoTimeout((int) PATIENCE.toMillis());
    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port()), 5_000);
    return socket;
  }

  private Socket handshaken() throws IOException {
    var wire = connect();
    var socket = tls.getSocketFactory().createSocket(wire, "127.0.0.1", server.port(), true);
    opened.add(socket);
    return socket;
  }

  private static void send(Socket socket, String text) throws IOException {
    socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
  }

  /** Reads until the server hangs up; fails when it does not. */
  private static String untilCutOff(Socket socket) {
    var reply = new StringBuilder();
    try {
      for (int next = socket.getInputStream().read(); next >= 0; ) {
        reply.append((char) next);
        next = socket.getInputStream().read();
      }
    } catch (SocketTimeoutException forever) {
      throw new AssertionError("not cut off within " + PATIENCE + "; received: " + reply, forever);
    } catch (IOException reset) {
      return reply.toString(); // as good as the end
    }
    return reply.toString();
  }

  @Test
  void aHeadThatStopsIsCutOff() throws IOException {
    var socket = handshaken();
    send(socket, "POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-");
    assertThat(untilCutOff(socket)).doesNotContain("200");
  }

  @Test
  void aHandshakeThatDoesNotComeIsCutOff() throws IOException {
    untilCutOff(connect());
  }

  @Test
  void aHandshakeThatStopsIsCutOff() throws IOException {
    var socket = connect();
    socket.getOutputStream().write(new byte[] {0x16, 0x03, 0x01, 0x02, 0x00, 0x01});
    untilCutOff(socket);
  }

  @Test
  void aBodyThatStopsIsAnswered408OnEveryRoute() throws IOException {
    for (int from = 0; from < HostileRoutesIT.ROUTES.size(); from += AT_ONCE) {
      int to = Math.min(from + AT_ONCE, HostileRoutesIT.ROUTES.size());
      var sent = new LinkedHashMap<String, Socket>();
      for (var route : HostileRoutesIT.ROUTES.subList(from, to)) {
        var socket = handshaken();
        send(
            socket,
            """
            POST %s HTTP/1.1\r
            Host: 127.0.0.1\r
            Content-Type: application/json\r
            Content-Length: 1000\r
            \r
            {"model":\
            """
                .formatted(route));
        sent.put(route, socket);
      }
      for (var each : sent.entrySet()) {
        assertThat(untilCutOff(each.getValue())).as(each.getKey()).startsWith("HTTP/1.1 408");
      }
    }
  }

  @Test
  void connectionsBeyondTheBoundAreClosedAtOnceAndRoomComesBack() throws IOException {
    var held = new ArrayList<Socket>();
    boolean hasRoom = true;
    while (hasRoom && held.size() <= CONNECTIONS) {
      hasRoom = isServed(held);
    }
    assertThat(held).hasSizeBetween(CONNECTIONS - OTHERS, CONNECTIONS);

    held.getFirst().close();

    Polling.until("there is room again", PATIENCE, () -> isServed(held));
  }

  /** Opens a connection, and keeps it when a request on it is answered. */
  private boolean isServed(List<Socket> held) throws IOException {
    var socket = handshaken();
    try {
      send(socket, "GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
      var line = new byte[15];
      int got = socket.getInputStream().readNBytes(line, 0, line.length);
      if (got == line.length) {
        assertThat(new String(line, StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 200 OK");
        held.add(socket);
        return true;
      }
    } catch (SocketTimeoutException waits) {
      throw new AssertionError("neither answered nor closed", waits);
    } catch (IOException closed) {
      return false;
    }
    return false;
  }
}
