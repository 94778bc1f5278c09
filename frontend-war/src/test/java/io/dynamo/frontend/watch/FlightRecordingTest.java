package io.dynamo.frontend.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.inference.Usage;
import io.dynamo.metrics.Metrics;
import io.dynamo.trace.Tracing;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class FlightRecordingTest {
  private final Stages stages = new Stages(new Metrics(), Tracing.OFF);

  private void request(String id) {
    var watch = new RequestWatch.WatchFactory(stages, false).open("completions", Map.of());
    watch.start(id);
    watch.setModel("tiny", false);
    for (var stage : Stage.values()) {
      stages.begin(stage, id, null).close();
    }
    stages.begin(Stage.DISPATCH, id, null).abandon();
    watch.recordFirstToken();
    watch.recordFirstToken();
    watch.recordUsage(new Usage(7, 3, null), RequestWatch.ServingWorker.NONE);
    watch.end(null);
  }

  @Test
  @Timeout(60)
  void everyStageAndTheRequestAreEventsOfAnEnabledRecording() throws InterruptedException {
    var seen = new LinkedBlockingQueue<RecordedEvent>();
    try (var recording = new RecordingStream()) {
      recording.enable("io.dynamo.frontend.Stage");
      recording.enable("io.dynamo.frontend.Request");
      recording.setReuse(false);
      recording.onEvent("io.dynamo.frontend.Stage", seen::add);
      recording.onEvent("io.dynamo.frontend.Request", seen::add);
      recording.startAsync();
      request("recorded");

      List<String> stagesSeen = new ArrayList<>();
      RecordedEvent whole = null;
      while (whole == null || stagesSeen.size() < 7) {
        var event = seen.poll(30, TimeUnit.SECONDS);
        assertThat(event).as("after %s", stagesSeen).isNotNull();
        assertThat(event.getString("requestId")).isEqualTo("recorded");
        if (event.getEventType().getName().endsWith("Stage")) {
          stagesSeen.add(event.getString("stage"));
        } else {
          whole = event;
        }
      }
      assertThat(stagesSeen)
          .containsExactlyInAnyOrder(
              "admission",
              "preprocess",
              "template",
              "tokenize",
              "route",
              "dispatch",
              "first_token");
      assertThat(whole.getString("model")).isEqualTo("tiny");
      assertThat(whole.getInt("status")).isEqualTo(200);
      assertThat(whole.getInt("inputTokens")).isEqualTo(7);
      assertThat(whole.getInt("outputTokens")).isEqualTo(3);
      assertThat(whole.getDuration()).isGreaterThanOrEqualTo(whole.getDuration("firstToken"));
    }
  }

  @Test
  void withoutARecordingNoEventIsMade() {
    assertThat(StageEvent.beginIfEnabled()).isNull();
    assertThat(RequestEvent.beginIfEnabled()).isNull();
  }
}
