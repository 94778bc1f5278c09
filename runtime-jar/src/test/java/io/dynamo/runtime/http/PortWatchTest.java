package io.dynamo.runtime.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.key.InvalidSettingsException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class PortWatchTest {
  private final List<InvalidSettingsException> ends = new ArrayList<>();
  private boolean opened;
  private boolean answers;
  private final PortWatch watch =
      new PortWatch(new PortAddress("127.0.0.1", 8123), () -> opened, () -> answers, ends::add);

  private void look(int times) {
    for (int i = 0; i < times; i++) {
      watch.look();
    }
  }

  @Test
  void aPortTakenByAnotherProcessIsReported() {
    answers = true;
    look(4);
    assertThat(ends).isEmpty();

    look(20);

    assertThat(ends).hasSize(1);
    assertThat(ends.getFirst())
        .hasMessageContaining(
            "dynamo.http.port = \"8123\" on dynamo.http.host = \"127.0.0.1\" was taken");
  }

  @Test
  void aPortThatThisServerOpensIsItsOwnFromThenOn() {
    look(100); // the server starts, and nobody answers
    answers = true;
    look(4); // open, and not yet said to be
    opened = true;
    look(1);
    opened = false; // it stops
    look(100);

    assertThat(ends).isEmpty();
  }

  @Test
  void looksThatAreNotInARowDoNotCount() {
    for (int i = 0; i < 10; i++) {
      answers = true;
      look(4);
      answers = false;
      look(1);
    }
    answers = true;
    watch.close();
    look(10);

    assertThat(ends).isEmpty();
  }

  @Test
  void noCheckIsScheduledOnceThePortIsOpen() throws Exception {
    var looked = new CountDownLatch(1);
    BooleanSupplier open =
        () -> {
          looked.countDown();
          return true;
        };
    var checks = new PortWatch(new PortAddress("127.0.0.1", 8123), open, () -> false, ends::add);
    try (var timer = new ScheduledThreadPoolExecutor(1);
        var _ = checks.start(timer)) {
      assertThat(timer.getQueue()).hasSize(1);

      assertThat(looked.await(30, TimeUnit.SECONDS)).isTrue();
      timer.submit(() -> {}).get(30, TimeUnit.SECONDS); // begins when the check has ended

      assertThat(timer.getQueue()).isEmpty();
    }
  }

  @Test
  void listeningPortAnswers() throws Exception {
    int port;
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
      assertThat(new PortAddress("localhost", port).answers()).isTrue();
      assertThat(new PortAddress("*", port).answers()).isTrue();
    }
    assertThat(new PortAddress("127.0.0.1", port).answers()).isFalse();
    assertThat(new PortAddress("no such host", port).answers()).isFalse();
  }
}
