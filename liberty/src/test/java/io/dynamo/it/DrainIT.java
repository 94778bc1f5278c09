package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A worker that is told to stop leaves nobody with half an answer. */
@Tag("pending")
class DrainIT {
  @Test
  void streamsOfALeavingWorkerGoOnToTheirEnd() throws Exception {
    try (var cluster = Cluster.of("drain", 2)) {
      var body = ChatClient.body(Cluster.MODEL, "A long story", 200, true);
      String expected;
      try (var undisturbed = ChatClient.post(cluster.frontend().port(), body)) {
        expected = undisturbed.text();
      }
      try (var client = ChatClient.post(cluster.frontend().port(), body)) {
        var said = new StringBuilder();
        for (var event = client.next(); event != null; event = client.next()) {
          if (said.isEmpty() && !event.text().isEmpty()) {
            cluster.worker(0).terminate();
          }
          said.append(event.text());
        }
        assertThat(said.toString()).isEqualTo(expected);
      }
      cluster.worker(0).awaitExit();
    }
  }
}
