package io.dynamo.router.pool;

import io.dynamo.discovery.WorkerSet;
import io.dynamo.event.RawStreams;
import io.dynamo.metrics.Metrics;
import java.lang.System.Logger.Level;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Follows which pages the SGLang workers of one model keep in a Mooncake store, by the events of
 * the store's master. While the workers' cards contradict each other, or none names the store, no
 * page is found. Safe for concurrent use.
 */
final class HicachePool implements SharedPool {
  private static final System.Logger LOG = System.getLogger(HicachePool.class.getName());
  private static final int FRAMES = 3;

  /** A layout of pages and the address of their store's events. */
  private record Source(HicacheLayout layout, String events) {}

  /**
   * A followed source of store events and the index that they fill.
   *
   * @param unfit whether it was logged that the block length differs from the page length
   */
  private record FollowedSource(
      Source source, PageIndex index, RawStreams.RawSubscription following, AtomicBoolean unfit) {}

  private final WorkerSet workers;
  private final @Nullable String events; // null takes the address from the cards
  private final HicacheCards cards;
  private final RawStreams streams;
  private final Metrics.Counter failures;
  private volatile @Nullable FollowedSource heard; // written under this
  private Set<String> complaints = Set.of(); // this and below: guarded by this
  private boolean closed;

  /**
   * Creates a pool that follows no source until its cards are first read.
   *
   * @param failures counts messages that are dropped, and losses of the connection to the store
   */
  HicachePool(
      WorkerSet workers,
      @Nullable String events,
      HicacheCards cards,
      RawStreams streams,
      Metrics.Counter failures) {
    this.workers = workers;
    this.events = events;
    this.cards = cards;
    this.streams = streams;
    this.failures = failures;
  }

  @Override
  public PoolHits find(int[] tokenIds, int blockTokens) {
    var now = heard;
    if (now == null || now.index.isEmpty()) {
      return PoolHits.NONE;
    }
    if (now.source.layout.pageTokens() != blockTokens) {
      if (!now.unfit.getAndSet(true)) {
        LOG.log(
            Level.WARNING,
            "the shared cache of the workers of {0} does not count: its pages of {1} tokens are no"
                + " blocks of {2}",
            workers,
            now.source.layout.pageTokens(),
            blockTokens);
      }
      return PoolHits.NONE;
    }
    var pages = new PageHasher(tokenIds, now.source.layout);
    var held = new boolean[pages.pages()];
    for (int i = 0; i < held.length; i++) {
      held[i] = now.index.holds(pages.next());
    }
    return PoolHits.of(held);
  }

  @Override
  public synchronized void cardsChanged() {
    if (closed) {
      return;
    }
    var wanted = source(complaints());
    var now = heard;
    if (!Objects.equals(now == null ? null : now.source, wanted)) {
      stop();
      if (wanted != null) {
        heard = follow(wanted);
      }
    }
  }

  private FollowedSource follow(Source source) {
    var index = new PageIndex(source.layout);
    var what = "the shared cache of the workers of " + workers;
    var hearing = new HicacheEvents(what + " at " + source.events, index, failures);
    LOG.log(
        Level.INFO,
        "{0} is announced at {1}: pages of {2} tokens, {3} objects each",
        what,
        source.events,
        source.layout.pageTokens(),
        source.layout.suffixes().size());
    return new FollowedSource(
        source,
        index,
        streams.follow(what, source.events, FRAMES, failures, hearing),
        new AtomicBoolean());
  }

  /** Returns the source that the cards of all workers agree on; null where there is none. */
  private @Nullable Source source(Consumer<String> complain) {
    var layouts = new LinkedHashSet<HicacheLayout>();
    var places = new LinkedHashSet<String>();
    boolean elsewhere = false;
    for (var card : cards.hicache(workers)) {
      try {
        if (!(card instanceof Map<?, ?> map)) {
          throw new IllegalArgumentException("it is no map");
        }
        if (!HicacheLayout.isInMooncake(map)) {
          elsewhere = true;
          continue;
        }
        layouts.add(HicacheLayout.read(map));
        var place = HicacheLayout.events(map);
        if (place != null) {
          places.add(place);
        }
      } catch (IllegalArgumentException e) {
        complain.accept("a model card does not say how it is kept: " + e.getMessage());
      }
    }
    if (layouts.isEmpty()) {
      return null;
    }
    if (layouts.size() > 1 || elsewhere) {
      complain.accept("their model cards differ in how it is kept; all must keep it alike");
      return null;
    }
    var known = events == null ? places : Set.of(events);
    if (known.size() > 1) {
      complain.accept(
          "their model cards name several places that tell of it: "
              + String.join(", ", known)
              + "; set dynamo.router.shared-cache-events");
    }
    return known.size() == 1 ? new Source(layouts.getFirst(), known.iterator().next()) : null;
  }

  /** Returns a consumer that logs the complaints that the last check of the cards did not have. */
  private Consumer<String> complaints() {
    var before = complaints;
    var now = new HashSet<String>();
    complaints = now;
    return why -> {
      if (now.add(why) && !before.contains(why)) {
        LOG.log(
            Level.WARNING,
            "the shared cache of the workers of {0} does not count: {1}",
            workers,
            why);
      }
    };
  }

  private void stop() {
    var now = heard;
    heard = null;
    if (now != null) {
      now.following.close();
    }
  }

  @Override
  public synchronized void close() {
    closed = true;
    stop();
  }
}
