package io.dynamo.cli.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Asks whether a NATS server greets those who connect to a port of loopback. */
record NatsProbe(int port) implements Probe {
  private static final int LIMIT_MILLIS = 3000;
  private static final String GREETING = "INFO ";

  @Override
  public @Nullable String problem() {
    try (var socket = new Socket()) {
      socket.setSoTimeout(LIMIT_MILLIS);
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), LIMIT_MILLIS);
      var begin = socket.getInputStream().readNBytes(GREETING.length());
      return new String(begin, StandardCharsets.US_ASCII).equals(GREETING)
          ? null
          : "port %d does not speak NATS".formatted(port);
    } catch (IOException e) {
      return "port %d does not answer".formatted(port);
    }
  }
}
