package io.dynamo.frontend.media;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.frontend.MediaSettings;
import io.dynamo.config.frontend.MediaSettings.Fetching;
import io.dynamo.token.MediaHasher;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Measures images that are passed on, by their first bytes. A request can do without, so it does
 * not wait for other fetches, nor again for a host that was slow. Safe for concurrent use; callers
 * wait.
 */
final class ImageMeter {
  private static final int HEAD_BYTES = 64 << 10; // of an image, where its size stands
  private static final Duration LEFT_ALONE = Duration.ofMinutes(1);

  private final MediaSettings settings;
  private final MediaFetcher fetcher;
  private final Duration limit;
  private final ImageSizes sizes = new ImageSizes(System::nanoTime);
  private final RecentNames slowHosts = new RecentNames(LEFT_ALONE, System::nanoTime);

  /**
   * @param limit for all images of a request; a host that takes half of it is left alone for a
   *     while
   */
  ImageMeter(MediaSettings settings, MediaFetcher fetcher, Duration limit) {
    this.settings = settings;
    this.fetcher = fetcher;
    this.limit = limit;
  }

  /** When a request that begins now goes on without the images that are not measured. */
  Deadline deadline(Deadline ofRequest) {
    return ofRequest.within(limit);
  }

  /**
   * Returns hash and size of an image; null when it has no size.
   *
   * @throws MediaException when it cannot be had
   */
  @Nullable MeasuredImage measured(
      String url, FetchRules rules, Deadline deadline, MediaCharge charge)
      throws MediaException, InterruptedException {
    if (DataUrl.is(url)) {
      return image(url, DataUrl.parse(url).decodeHead(HEAD_BYTES));
    }
    if (!settings.measuring() || settings.fetching() == Fetching.NEVER) {
      return null;
    }
    var known = sizes.get(url);
    if (known != null) {
      return known;
    }
    var host = MediaUrl.parse(url, null).host();
    if (deadline.isExpired() || slowHosts.has(host)) {
      return null;
    }
    var image = image(url, head(url, host, rules, deadline, charge));
    if (image != null) {
      sizes.put(url, image);
    }
    return image;
  }

  private byte[] head(
      String url, String host, FetchRules rules, Deadline deadline, MediaCharge charge)
      throws MediaException, InterruptedException {
    long began = System.nanoTime();
    try {
      return fetcher
          .fetch(
              new MediaFetcher.Wish(
                  MediaKind.IMAGE, url, HEAD_BYTES, true, rules, deadline, charge))
          .bytes();
    } catch (MediaException e) {
      if (System.nanoTime() - began >= limit.toNanos() / 2) {
        slowHosts.add(host);
      }
      throw e;
    }
  }

  private static @Nullable MeasuredImage image(String url, byte[] head) {
    var header = ImageHeader.of(head);
    return header == null
        ? null
        : new MeasuredImage(MediaHasher.ofUrl(url), header.width(), header.height());
  }
}
