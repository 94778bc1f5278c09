package io.dynamo.frontend.media;

import io.dynamo.config.frontend.MediaSettings;
import io.dynamo.config.frontend.MediaSettings.Fetching;
import io.dynamo.metrics.Metrics;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;

/** Media settings and parts for tests. */
public final class MediaFixture {
  /** The settings that a server has when the operator says nothing. */
  public static final MediaSettings SETTINGS = settings(Fetching.CARD, false, List.of());

  private MediaFixture() {}

  /** Settings with ports beside the usual ones. */
  static MediaSettings settings(
      Fetching fetching, boolean inside, List<String> hosts, Integer... ports) {
    var all = new HashSet<>(Set.of(80, 443));
    all.addAll(List.of(ports));
    return new MediaSettings(
        fetching,
        true,
        inside,
        hosts,
        all,
        1 << 20,
        1 << 21,
        1 << 20,
        Duration.ofSeconds(20),
        Duration.ofSeconds(5),
        8,
        2,
        1 << 22,
        0);
  }

  /** Prepares media as a server does that was left alone. */
  public static MediaIntake intake(
      Executor threads, ScheduledExecutorService timer, Metrics metrics) {
    var meters = new MediaMeters(metrics);
    return new MediaIntake(
        SETTINGS,
        new MediaFetcher(
            SETTINGS,
            (_, _) -> List.of(),
            _ -> false,
            HttpGet.trusting(null),
            timer,
            Duration.ZERO,
            meters),
        new MediaCache(0, System::nanoTime),
        null,
        threads,
        meters);
  }
}
