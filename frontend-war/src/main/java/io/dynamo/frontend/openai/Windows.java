package io.dynamo.frontend.openai;

import io.dynamo.config.frontend.Coalescing;
import io.dynamo.frontend.sse.Window;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/** The coalescing windows of the models, one for each length. Safe for concurrent use. */
final class Windows {
  private final Coalescing settings;
  private final ScheduledExecutorService timer;
  private final Map<Duration, Window> byLength = new ConcurrentHashMap<>();

  Windows(Coalescing settings, ScheduledExecutorService timer) {
    this.settings = settings;
    this.timer = timer;
  }

  /** Returns the window of {@code model}; null when its tokens are not held. */
  @Nullable Window of(String model) {
    var length = settings.of(model);
    return length.isZero()
        ? null
        : byLength.computeIfAbsent(length, each -> new Window(each, timer));
  }
}
