package io.dynamo.frontend.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.record.RequestRecords;
import io.dynamo.metrics.Metrics;
import io.dynamo.trace.Tracing;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RecentFailuresTest {
  private final RecentFailures failures = new RecentFailures();
  private final RequestWatch.WatchFactory factory =
      new RequestWatch.WatchFactory(
          new Stages(new Metrics(), Tracing.OFF),
          false,
          RequestConsole.OFF,
          failures,
          RequestRecords.OFF);

  private void end(String id, @Nullable ApiError error) {
    var watch = factory.open("chat_completions", Map.of());
    watch.start(id);
    watch.setModel("tiny", true);
    watch.end(error);
  }

  @Test
  void onlyRequestsThatEndInAnErrorAreKept() {
    end("fine", null);
    end("left", ApiError.of(ApiError.CLIENT_GONE, "the client closed its connection"));
    end("bad", ApiError.of(400, "max_tokens is below 1"));
    assertThat(failures.count()).isEqualTo(1);
    assertThat(failures.list())
        .singleElement()
        .satisfies(
            it -> {
              assertThat(it.requestId()).isEqualTo("bad");
              assertThat(it.model()).isEqualTo("tiny");
              assertThat(it.status()).isEqualTo(400);
              assertThat(it.message()).isEqualTo("max_tokens is below 1");
            });
  }

  @Test
  void theNewestAreKeptAndTheirTextsAreCut() {
    for (int i = 0; i < 250; i++) {
      end("r" + i, ApiError.of(500, "x".repeat(5000)));
    }
    assertThat(failures.count()).isEqualTo(250);
    assertThat(failures.list()).hasSize(100);
    assertThat(failures.list().getFirst().requestId()).isEqualTo("r249");
    assertThat(failures.list().getFirst().message()).hasSizeLessThan(400);
  }
}
