package io.dynamo.frontend.media;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.frontend.MediaSettings;
import io.dynamo.config.frontend.MediaSettings.Fetching;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.preprocess.ImageTokens;
import io.dynamo.model.CardMedia;
import io.dynamo.model.ModelCard;
import io.dynamo.token.MediaHasher;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Prepares the media of requests: passes URLs on, or fetches what is behind them and sends that as
 * data URLs, and measures images so that requests are routed by them. Safe for concurrent use;
 * callers wait.
 */
public final class MediaIntake {
  private static final int HEAD_BYTES = 64 << 10; // of an image, where its size stands
  private static final Duration MEASURING = Duration.ofSeconds(5);

  /**
   * The media of one request.
   *
   * @param images how the model counts them; null when that is not known
   * @param tokens the prompt
   * @param countable whether images are scaled as the model's configuration says
   * @param share charged with what is fetched
   */
  public record Wanted(
      List<MediaPart> parts,
      ModelCard card,
      @Nullable ImageTokens images,
      int[] tokens,
      boolean countable,
      Deadline deadline,
      Cancellation cancellation,
      BodyBudget.Share share) {}

  /**
   * One part after it was fetched, measured or left alone.
   *
   * @param url in place of the part's own; null keeps that
   * @param image its hash and size; null when that is not known
   */
  private record Loaded(@Nullable String url, @Nullable MeasuredImage image) {
    static final Loaded UNREAD = new Loaded(null, null);
  }

  private final MediaSettings settings;
  private final MediaFetcher fetcher;
  private final MediaCache cache;
  private final ImageSizes sizes;
  private final Executor threads;
  private final MediaMeters meters;

  /**
   * @param threads runs each task on a virtual thread of its own
   */
  public MediaIntake(
      MediaSettings settings,
      MediaFetcher fetcher,
      MediaCache cache,
      Executor threads,
      MediaMeters meters) {
    this.settings = settings;
    this.fetcher = fetcher;
    this.cache = cache;
    this.sizes = new ImageSizes(System::nanoTime);
    this.threads = threads;
    this.meters = meters;
    meters.publish(cache);
  }

  /**
   * Prepares the media of a request. The bytes that stay with the request are charged to its share.
   *
   * @throws ApiException with 400 and the part when a medium cannot be had
   * @throws io.dynamo.error.DynamoException when the request is cancelled or late
   */
  public PreparedMedia prepare(Wanted wanted) throws InterruptedException {
    var parts = wanted.parts();
    if (parts.isEmpty()) {
      return PreparedMedia.NONE;
    }
    boolean measures = measures(wanted);
    if (!measures && parts.stream().noneMatch(part -> isFetched(part, wanted.card().media()))) {
      return PreparedMedia.unread(parts);
    }
    var charge = new MediaCharge(wanted.share());
    try (charge) {
      var sent = new AtomicLong(); // bytes of data URLs
      var tasks = new ArrayList<MediaLanes.Task<Loaded>>();
      for (var part : parts) {
        tasks.add(() -> load(part, wanted, measures, charge, sent));
      }
      var loaded =
          new MediaLanes<>(tasks)
              .run(
                  settings.maxFetchesPerRequest(),
                  threads,
                  wanted.deadline(),
                  wanted.cancellation());
      return joined(wanted, loaded, sent.get());
    }
  }

  /**
   * Whether the size of images matters: to a model that counts their tokens in a known way, and in
   * a request that has nothing but images without names of their own.
   */
  private static boolean measures(Wanted wanted) {
    return wanted.images() != null
        && wanted.countable()
        && wanted.parts().stream()
            .allMatch(part -> part.kind() == MediaKind.IMAGE && part.uuid() == null);
  }

  private boolean isFetched(MediaPart part, CardMedia card) {
    return part.url() != null
        && switch (settings.fetching()) {
          case ALWAYS -> true;
          case CARD -> card.decodes(part.kind().cardName());
          case NEVER -> false;
        };
  }

  private Loaded load(
      MediaPart part, Wanted wanted, boolean measures, MediaCharge charge, AtomicLong sent)
      throws InterruptedException {
    var url = part.url();
    if (url == null) {
      return Loaded.UNREAD;
    }
    var rules = FetchRules.of(settings, wanted.card().media());
    boolean fetched = isFetched(part, wanted.card().media());
    if (!fetched && !measures) {
      return Loaded.UNREAD;
    }
    try {
      return fetched
          ? whole(part, url, rules, wanted, charge, sent)
          : new Loaded(null, measured(part, url, rules.within(MEASURING), wanted, charge));
    } catch (MediaException e) {
      if (!fetched) {
        return Loaded.UNREAD; // its worker may have better luck
      }
      throw new ApiException(
          new ApiError(
              400, part.path() + ": " + e.getMessage(), "invalid_media", part.path(), null));
    }
  }

  private Loaded whole(
      MediaPart part,
      String url,
      FetchRules rules,
      Wanted wanted,
      MediaCharge charge,
      AtomicLong sent)
      throws MediaException, InterruptedException {
    var check = new MediaCheck(part.kind(), settings, wanted.card().media());
    if (part.isInline()) {
      var data = DataUrl.parse(url);
      charge.add(Math.min(data.mostBytes(), settings.maxBytes()));
      var bytes = data.decode(settings.maxBytes());
      return new Loaded(null, check.of(bytes, data.type()).measured(bytes));
    }
    var known = cache.get(url);
    MediaFetcher.Fetched fetched;
    if (known == null) {
      fetched =
          fetcher.fetch(
              new MediaFetcher.Wish(part.kind(), url, 0, rules, wanted.deadline(), charge));
    } else {
      rules.check(MediaUrl.parse(url, null)); // another model's card may have other rules
      meters.foundInCache();
      fetched = known;
    }
    var checked = check.of(fetched.bytes(), fetched.type());
    if (known == null) {
      cache.put(url, fetched);
    }
    long length = DataUrl.lengthOf(checked.type(), fetched.bytes().length);
    if (sent.addAndGet(length) > settings.maxRequestBytes()) {
      throw new MediaException(
          MediaException.Reason.TOO_LARGE,
          "with it the media of the request exceed the %d bytes of dynamo.frontend.media.max-request-bytes; send fewer or smaller ones"
              .formatted(settings.maxRequestBytes()));
    }
    charge.add(length);
    return new Loaded(
        DataUrl.write(checked.type(), fetched.bytes()), checked.measured(fetched.bytes()));
  }

  /** Returns hash and size of an image that is passed on; null when it has no size. */
  private @Nullable MeasuredImage measured(
      MediaPart part, String url, FetchRules rules, Wanted wanted, MediaCharge charge)
      throws MediaException, InterruptedException {
    boolean inline = part.isInline();
    if (!inline && (!settings.measuring() || settings.fetching() == Fetching.NEVER)) {
      return null;
    }
    long hash = MediaHasher.ofUrl(url);
    var known = sizes.get(hash);
    if (known != null) {
      return known;
    }
    var head =
        inline
            ? DataUrl.parse(url).decodeHead(HEAD_BYTES)
            : fetcher
                .fetch(
                    new MediaFetcher.Wish(
                        part.kind(), url, HEAD_BYTES, rules, wanted.deadline(), charge))
                .bytes();
    var header = ImageHeader.of(head);
    if (header == null) {
      return null;
    }
    var image = new MeasuredImage(hash, header.width(), header.height());
    sizes.put(image);
    return image;
  }

  private PreparedMedia joined(Wanted wanted, List<Loaded> loaded, long sent) {
    var urls = new HashMap<Integer, String>();
    var images = new ArrayList<MeasuredImage>();
    int count = 0;
    for (int i = 0; i < loaded.size(); i++) {
      var one = loaded.get(i);
      if (one.url() != null) {
        urls.put(i, one.url());
      }
      if (wanted.parts().get(i).kind() == MediaKind.IMAGE) {
        count++;
        if (one.image() != null) {
          images.add(one.image());
        }
      }
    }
    var expanded =
        measures(wanted) && wanted.images() != null && images.size() == count
            ? PromptExpansion.of(wanted.tokens(), wanted.images(), images)
            : null;
    if (count > 0) {
      meters.routed(expanded != null);
    }
    return new PreparedMedia(
        PreparedMedia.slots(wanted.parts(), urls),
        expanded == null ? List.of() : images.stream().map(MeasuredImage::hex).toList(),
        expanded,
        sent);
  }
}
