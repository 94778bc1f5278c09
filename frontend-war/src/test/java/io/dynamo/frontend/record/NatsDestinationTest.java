package io.dynamo.frontend.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.nats.client.Nats;
import io.nats.client.Options;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The messages that a real server gets. */
class NatsDestinationTest {
  private static final String SUBJECT = "dynamo.request_trace.v1";
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private static boolean isInstalled() {
    var path = Objects.requireNonNullElse(System.getenv("PATH"), "");
    return Pattern.compile(File.pathSeparator)
        .splitAsStream(path)
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, "nats-server")));
  }

  private static int freePort() throws IOException {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @Test
  void anAttemptToConnectIsNotRepeatedAtOnce() throws Exception {
    var url = URI.create("nats://127.0.0.1:" + freePort());
    var batch = List.of("{}".getBytes(UTF_8));
    try (var destination =
        new NatsDestination(TestSinks.servers(url).nats(), SUBJECT, Duration.ofHours(1))) {
      var first = catchThrowable(() -> destination.send(batch));
      assertThat(first).isInstanceOf(IOException.class);
      assertThat(catchThrowable(() -> destination.send(batch))).isSameAs(first);
    }
  }

  @Test
  void eachRecordIsAMessageOnceAServerIsThere() throws Exception {
    assumeTrue(isInstalled(), "nats-server is not installed");
    int port = freePort();
    var url = URI.create("nats://127.0.0.1:" + port);
    var batch = List.of("{\"a\":1}".getBytes(UTF_8), "{\"b\":2}".getBytes(UTF_8));
    try (var destination =
        new NatsDestination(TestSinks.servers(url).nats(), SUBJECT, Duration.ZERO)) {
      assertThatThrownBy(() -> destination.send(batch)).isInstanceOf(IOException.class);

      var server =
          new ProcessBuilder("nats-server", "-a", "127.0.0.1", "-p", Integer.toString(port))
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      var options = Options.builder().server(url.toString()).maxReconnects(-1).build();
      try {
        var listener = Nats.connectReconnectOnConnect(options);
        var messages = listener.subscribe(SUBJECT);
        listener.flush(LIMIT);

        assertThat(destination.send(batch)).isZero();

        for (var record : batch) {
          assertThat(Objects.requireNonNull(messages.nextMessage(LIMIT)).getData())
              .isEqualTo(record);
        }
        listener.close();
      } finally {
        server.destroy();
        assertThat(server.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
      }
    }
  }
}
