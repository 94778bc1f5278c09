package io.dynamo.frontend.media;

import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.frontend.media.pixels.PixelDecoders;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import org.jspecify.annotations.Nullable;

/** Counts what is fetched for prompts. Safe for concurrent use. */
public final class MediaMeters {
  private final Metrics metrics;

  public MediaMeters(Metrics metrics) {
    this.metrics = metrics;
  }

  /** Publishes the size of the cache. */
  void publish(MediaCache cache) {
    metrics.gauge(FrontendMetrics.MEDIA_CACHE_BYTES, cache::bytes);
    metrics.gauge(FrontendMetrics.MEDIA_CACHE_ENTRIES, cache::size);
  }

  /** Publishes the bytes of decoded images; none where nothing is decoded. */
  void publish(@Nullable PixelDecoders decoders) {
    metrics.gauge(
        FrontendMetrics.MEDIA_DECODED_BYTES, () -> decoders == null ? 0 : decoders.heldBytes());
  }

  /** Counts a fetch as under way until it is closed. */
  Fetching fetching() {
    metrics.level(FrontendMetrics.MEDIA_FETCHING).add(1);
    return () -> metrics.level(FrontendMetrics.MEDIA_FETCHING).add(-1);
  }

  /** A fetch under way. */
  @FunctionalInterface
  interface Fetching extends AutoCloseable {
    @Override
    void close();
  }

  void fetched(long nanos, int bytes) {
    count("fetched");
    metrics.timer(FrontendMetrics.MEDIA_FETCH_DURATION).record(nanos);
    metrics.counter(FrontendMetrics.MEDIA_FETCHED_BYTES).add(bytes);
  }

  void failed(MediaException.Reason reason) {
    count(reason.label());
  }

  void foundInCache() {
    count("cached");
  }

  private void count(String outcome) {
    metrics.counter(FrontendMetrics.MEDIA_FETCHES, new Label("outcome", outcome)).increment();
  }

  /** Counts a request with images by whether routers know it by them. */
  void routed(boolean byImages) {
    metrics
        .counter(
            FrontendMetrics.MEDIA_ROUTED, new Label("by", byImages ? "images" : "placeholders"))
        .increment();
  }
}
