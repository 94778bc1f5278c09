package io.dynamo.frontend.media;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.frontend.MediaSettings;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.media.pixels.DamagedImageException;
import io.dynamo.frontend.media.pixels.DecodedImage;
import io.dynamo.frontend.media.pixels.PixelDecoders;
import io.dynamo.frontend.preprocess.ImageTokens;
import io.dynamo.model.CardMedia;
import io.dynamo.model.ModelCard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Prepares the media of requests: passes URLs on, or fetches what is behind them and sends that as
 * data URLs, and measures images so that requests are routed by them. Safe for concurrent use;
 * callers wait.
 */
public final class MediaIntake implements AutoCloseable {
  private static final int MOST_MEDIA = 128; // of a request, unless they are only passed on
  private static final int COPIES = 3; // of a data URL, while it is written or decoded
  private static final Duration MEASURING = Duration.ofSeconds(5);

  /**
   * The media of one request.
   *
   * @param images how the model counts them; null when that is not known
   * @param tokens the prompt
   * @param countable whether images are scaled as the model's configuration says
   * @param share charged with what is fetched
   */
  public record PromptMedia(
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
   * @param slot in place of the part's own; empty keeps that
   * @param image its hash and size; null when that is not known
   */
  private record Loaded(Map<String, Object> slot, @Nullable MeasuredImage image) {
    static final Loaded UNREAD = new Loaded(Map.of(), null);
  }

  /**
   * A request whose media are read.
   *
   * @param measures whether images that are passed on are measured
   * @param measuring when that ends
   * @param sent bytes of data URLs
   */
  private record Run(
      PromptMedia wanted,
      FetchRules rules,
      boolean measures,
      Deadline measuring,
      Deadline decoding,
      MediaCharge charge,
      AtomicLong sent) {
    /** Keeps an image until the request ends, or no longer if that does not wait for it. */
    void keep(DecodedImage image) {
      try {
        charge.keep(image::close);
      } catch (CancellationException e) {
        image.close();
        throw e;
      }
    }
  }

  private final MediaSettings settings;
  private final MediaFetcher fetcher;
  private final MediaCache cache;
  private final ImageMeter meter;
  private final @Nullable PixelDecoders decoders;
  private final Executor threads;
  private final MediaMeters meters;

  /**
   * @param decoders of images for models whose cards ask for it; null leaves that to workers
   * @param threads runs each task on a virtual thread of its own
   */
  public MediaIntake(
      MediaSettings settings,
      MediaFetcher fetcher,
      MediaCache cache,
      @Nullable PixelDecoders decoders,
      Executor threads,
      MediaMeters meters) {
    this(settings, fetcher, cache, decoders, threads, meters, MEASURING);
  }

  /**
   * @param measuring how long the images of a request may be measured
   */
  MediaIntake(
      MediaSettings settings,
      MediaFetcher fetcher,
      MediaCache cache,
      @Nullable PixelDecoders decoders,
      Executor threads,
      MediaMeters meters,
      Duration measuring) {
    this.settings = settings;
    this.fetcher = fetcher;
    this.cache = cache;
    this.decoders = decoders;
    this.meter = new ImageMeter(settings, fetcher, measuring);
    this.threads = threads;
    this.meters = meters;
    meters.publish(cache);
    meters.publish(decoders);
  }

  /**
   * Prepares the media of a request. The bytes that stay with the request are charged to its share.
   *
   * @throws ApiException with 400 and the part when a medium cannot be had
   * @throws io.dynamo.error.DynamoException when the request is cancelled or late
   */
  public PreparedMedia prepare(PromptMedia wanted) throws InterruptedException {
    var parts = wanted.parts();
    if (parts.isEmpty()) {
      return PreparedMedia.NONE;
    }
    boolean measures = measures(wanted);
    long fetched = parts.stream().filter(it -> isFetched(it, wanted.card().media())).count();
    if (fetched > MOST_MEDIA) {
      throw new ApiException(
          new ApiError(
              400,
              "the request has %d media that are fetched or checked, at most %d are allowed"
                  .formatted(fetched, MOST_MEDIA),
              "invalid_media",
              "messages",
              null));
    }
    if (!measures && fetched == 0) {
      return PreparedMedia.unread(parts);
    }
    var charge = new MediaCharge(wanted.share());
    try (charge) {
      var run =
          new Run(
              wanted,
              FetchRules.of(settings, wanted.card().media()),
              measures,
              meter.deadline(wanted.deadline()),
              decoders == null ? wanted.deadline() : decoders.deadline(wanted.deadline()),
              charge,
              new AtomicLong());
      var tasks = new ArrayList<MediaLanes.Task<Loaded>>();
      for (var part : parts) {
        tasks.add(() -> load(part, run));
      }
      var loaded =
          new MediaLanes<>(tasks)
              .run(
                  settings.maxFetchesPerRequest(),
                  threads,
                  wanted.deadline(),
                  wanted.cancellation());
      return joined(run, loaded);
    }
  }

  /**
   * Whether the size of images matters: to a model that counts their tokens in a known way, and in
   * a request that has nothing but images without names of their own, and not too many.
   */
  private static boolean measures(PromptMedia wanted) {
    return wanted.images() != null
        && wanted.countable()
        && wanted.parts().size() <= MOST_MEDIA
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

  private Loaded load(MediaPart part, Run run) throws InterruptedException {
    var url = part.url();
    if (url == null) {
      return Loaded.UNREAD;
    }
    boolean fetched = isFetched(part, run.wanted.card().media());
    if (!fetched && !run.measures) {
      return Loaded.UNREAD;
    }
    try {
      return fetched
          ? whole(part, url, run)
          : new Loaded(Map.of(), meter.measured(url, run.rules, run.measuring, run.charge));
    } catch (MediaException e) {
      if (!fetched) {
        return Loaded.UNREAD; // its worker may have better luck
      }
      var message = part.path() + ": " + e.getMessage();
      throw new ApiException(
          e.reason() == MediaException.Reason.OVERLOADED
              ? ApiError.overloaded(503, message, 1)
              : new ApiError(400, message, "invalid_media", part.path(), null));
    }
  }

  private Loaded whole(MediaPart part, String url, Run run)
      throws MediaException, InterruptedException {
    var check = new MediaCheck(part.kind(), settings, run.wanted.card().media());
    if (part.isInline()) {
      var data = DataUrl.parse(url);
      long copies = (COPIES + 1) * Math.min(data.mostBytes(), settings.maxBytes()); // 3 : 4
      run.charge.add(copies);
      var bytes = data.decode(settings.maxBytes());
      var checked = check.of(bytes, data.type());
      var loaded = new Loaded(decoded(bytes, checked, run), checked.measured(bytes));
      run.charge.release(copies);
      return loaded;
    }
    var key = new MediaCache.Key(part.kind(), url, run.rules);
    var known = cache.get(key);
    MediaFetcher.Fetched fetched;
    if (known == null) {
      fetched =
          fetcher.fetch(
              new MediaFetcher.Wish(
                  part.kind(), url, 0, false, run.rules, run.wanted.deadline(), run.charge));
    } else {
      meters.foundInCache();
      fetched = known;
    }
    var checked = check.of(fetched.bytes(), fetched.type());
    if (known == null) {
      cache.put(key, fetched);
    }
    var decoded = decoded(fetched.bytes(), checked, run);
    if (!decoded.isEmpty()) {
      return new Loaded(decoded, checked.measured(fetched.bytes()));
    }
    long length = DataUrl.lengthOf(checked.type(), fetched.bytes().length);
    if (run.sent.addAndGet(length) > settings.maxRequestBytes()) {
      throw new MediaException(
          MediaException.Reason.TOO_LARGE,
          "with it the media of the request exceed the %d bytes of dynamo.frontend.media.max-request-bytes; send fewer or smaller ones"
              .formatted(settings.maxRequestBytes()));
    }
    run.charge.add(COPIES * length);
    var written = DataUrl.write(checked.type(), fetched.bytes());
    run.charge.release((COPIES - 1) * length);
    return new Loaded(Map.of("Url", written), checked.measured(fetched.bytes()));
  }

  /** Decodes an image for a model that asks for it; empty where it goes as it is stored. */
  private Map<String, Object> decoded(byte[] file, MediaCheck.Checked checked, Run run)
      throws MediaException, InterruptedException {
    var header = checked.header();
    if (decoders == null
        || header == null
        || !run.wanted.card().media().decodes(MediaKind.IMAGE.cardName())) {
      return Map.of();
    }
    try {
      var image =
          decoders.decode(file, header.type(), header.width(), header.height(), run.decoding);
      if (image == null) {
        return Map.of();
      }
      run.keep(image);
      return Map.of("Decoded", image.toField());
    } catch (DamagedImageException e) {
      throw new MediaException(MediaException.Reason.WRONG_TYPE, String.valueOf(e.getMessage()));
    }
  }

  private PreparedMedia joined(Run run, List<Loaded> loaded) {
    var wanted = run.wanted;
    var read = new HashMap<Integer, Map<String, Object>>();
    var images = new ArrayList<MeasuredImage>();
    int count = 0;
    for (int i = 0; i < loaded.size(); i++) {
      var one = loaded.get(i);
      if (!one.slot().isEmpty()) {
        read.put(i, one.slot());
      }
      if (wanted.parts().get(i).kind() == MediaKind.IMAGE) {
        count++;
        if (one.image() != null) {
          images.add(one.image());
        }
      }
    }
    var expanded =
        run.measures && wanted.images() != null && images.size() == count
            ? PromptExpansion.of(wanted.tokens(), wanted.images(), images)
            : null;
    if (count > 0) {
      meters.routed(expanded != null);
    }
    var slots = PreparedMedia.slots(wanted.parts(), read);
    if (expanded == null) {
      return new PreparedMedia(slots, run.sent.get());
    }
    int blockTokens = wanted.card().blockTokens();
    long tokenBytes = Integer.BYTES * (2L * expanded.tokenIds().length + blockTokens);
    run.charge.add(tokenBytes);
    return new PreparedMedia(
        slots,
        images.stream().map(MeasuredImage::hex).toList(),
        expanded,
        expanded.toField(blockTokens),
        run.sent.get() + tokenBytes);
  }

  /** Ends the access of workers to decoded images. May wait. */
  @Override
  public void close() {
    if (decoders != null) {
      decoders.close();
    }
  }
}
