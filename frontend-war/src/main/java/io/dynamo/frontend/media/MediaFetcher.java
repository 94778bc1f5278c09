package io.dynamo.frontend.media;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.frontend.MediaSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * Fetches media from addresses that clients may have fetched: looks a host up once, checks every
 * address, and connects to one that was checked, anew for each redirect. Bounded in time, bytes and
 * number. Callers wait, on virtual threads, and may be interrupted. Safe for concurrent use.
 */
public final class MediaFetcher {
  private static final int MAX_REDIRECTS = 5;
  private static final int MAX_ADDRESSES = 2; // that are tried
  private static final int PIECE = 16 << 10;
  private static final Set<Integer> REDIRECTS = Set.of(301, 302, 303, 307, 308);
  private static final int OK = 200;
  private static final int PARTIAL = 206;

  /**
   * A file that was fetched, or its beginning.
   *
   * @param type the media type by the server, without parameters; empty when it gave none
   * @param seconds how long it may be kept; 0 is not at all
   */
  record Fetched(byte[] bytes, String type, long seconds) {}

  /**
   * One fetch.
   *
   * @param firstBytes how many bytes are wanted; 0 is all
   * @param optional whether it is given up where others would have to be waited for
   * @param charge what the bytes are charged to
   */
  record Wish(
      MediaKind kind,
      String url,
      int firstBytes,
      boolean optional,
      FetchRules rules,
      Deadline deadline,
      MediaCharge charge) {}

  private final MediaSettings settings;
  private final HostResolver resolver;
  private final Predicate<InetAddress> isAllowed;
  private final SSLSocketFactory tls;
  private final ScheduledExecutorService timer;
  private final Duration failureTime;
  private final Semaphore permits;
  private final DomainSlots domains;
  private final MediaMeters meters;

  /** Creates a fetcher that asks the machine's resolver and trusts the JDK's authorities. */
  public MediaFetcher(
      MediaSettings settings,
      SystemResolver resolver,
      ScheduledExecutorService timer,
      MediaMeters meters) {
    this(
        settings,
        resolver,
        address -> PublicAddresses.isPublic(address) && !PublicAddresses.isOwn(address),
        HttpGet.trusting(null),
        timer,
        Duration.ofMillis(200),
        meters);
  }

  /**
   * @param isPublic which addresses may be connected to, unless all may
   * @param failureTime how long a failure takes at least, so that its kind does not show
   */
  MediaFetcher(
      MediaSettings settings,
      HostResolver resolver,
      Predicate<InetAddress> isPublic,
      SSLSocketFactory tls,
      ScheduledExecutorService timer,
      Duration failureTime,
      MediaMeters meters) {
    this.settings = settings;
    this.resolver = resolver;
    this.isAllowed = settings.allowsInternal() ? _ -> true : isPublic;
    this.tls = tls;
    this.timer = timer;
    this.failureTime = failureTime;
    this.permits = new Semaphore(settings.maxFetches(), true);
    this.domains = new DomainSlots(ofDomain(settings));
    this.meters = meters;
  }

  /** Half of all, or one domain could keep out the others; hosts that are named are trusted. */
  private static int ofDomain(MediaSettings settings) {
    int all = settings.maxFetches();
    return settings.hosts().isEmpty()
        ? Math.min(all, Math.max(all / 2, settings.maxFetchesPerRequest()))
        : all;
  }

  /**
   * Fetches one medium.
   *
   * @throws MediaException when it cannot be had
   * @throws InterruptedException when the caller was interrupted
   */
  Fetched fetch(Wish wish) throws MediaException, InterruptedException {
    long began = System.nanoTime();
    var until = wish.deadline().within(wish.rules().timeout());
    try (var _ = meters.fetching()) {
      var fetched = permitted(wish, until);
      meters.fetched(System.nanoTime() - began, fetched.bytes().length);
      return fetched;
    } catch (MediaException e) {
      meters.failed(e.reason());
      if (e.reason() == MediaException.Reason.UNAVAILABLE) {
        long least = Math.min(failureTime.toNanos(), until.remainingNanos());
        TimeUnit.NANOSECONDS.sleep(least - (System.nanoTime() - began));
      }
      throw e;
    }
  }

  private Fetched permitted(Wish wish, Deadline until) throws MediaException, InterruptedException {
    var url = MediaUrl.parse(wish.url(), null);
    wish.rules().check(url);
    long wait = wish.optional() ? 0 : until.remainingNanos() / 2; // as much is left for the fetch
    long end = System.nanoTime() + wait;
    try (var slot = domains.acquire(url.host(), wait)) {
      if (slot == null
          || !permits.tryAcquire(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS)) {
        throw MediaException.overloaded();
      }
      try (var alarm = new FetchAlarm(until, timer)) {
        return follow(wish, url, until, alarm);
      } finally {
        permits.release();
      }
    }
  }

  private Fetched follow(Wish wish, MediaUrl first, Deadline until, FetchAlarm alarm)
      throws MediaException, InterruptedException {
    try {
      var url = first;
      for (int hop = 0; hop <= MAX_REDIRECTS; hop++) {
        try (var get = connect(url, until)) {
          var rules = wish.rules();
          var reply =
              get.send(
                  new HttpGet.Request(
                      url, rules.userAgent(), accept(wish.kind()), wish.firstBytes()));
          if (!REDIRECTS.contains(reply.status())) {
            return read(reply, wish);
          }
          url = redirected(url, reply.header("location"), rules);
        }
      }
      throw MediaException.unavailable();
    } catch (IOException e) {
      if (!alarm.hasFired() && Thread.interrupted()) {
        throw new InterruptedException();
      }
      throw MediaException.unavailable();
    } catch (InterruptedException e) {
      if (alarm.hasFired()) {
        throw MediaException.unavailable();
      }
      throw e;
    }
  }

  private static String accept(MediaKind kind) {
    return kind.cardName() + "/*";
  }

  /** The next URL; that it is refused says something of the server that named it, so not why. */
  private static MediaUrl redirected(MediaUrl from, @Nullable String location, FetchRules rules)
      throws MediaException {
    if (location == null) {
      throw MediaException.unavailable();
    }
    try {
      var to = MediaUrl.parse(location, from);
      rules.check(to);
      if (from.secure() && !to.secure()) {
        throw MediaException.unavailable();
      }
      return to;
    } catch (MediaException e) {
      throw MediaException.unavailable();
    }
  }

  private HttpGet connect(MediaUrl url, Deadline until)
      throws IOException, MediaException, InterruptedException {
    var limit = Duration.ofNanos(Math.max(0, until.remainingNanos()));
    var host = url.host();
    var addresses =
        resolver.resolve(host.startsWith("[") ? host.substring(1, host.length() - 1) : host, limit);
    if (addresses.isEmpty() || !addresses.stream().allMatch(isAllowed)) {
      throw MediaException
          .unavailable(); // one inside address spoils a name: it may come first next
    }
    return connect(url, addresses, until);
  }

  private HttpGet connect(MediaUrl url, List<InetAddress> addresses, Deadline until)
      throws IOException, MediaException {
    IOException failure = null;
    for (var address : addresses.subList(0, Math.min(MAX_ADDRESSES, addresses.size()))) {
      try {
        return HttpGet.connect(url, address, connectLimit(until), tls);
      } catch (IOException e) {
        failure = e;
        if (Thread.currentThread().isInterrupted()) {
          break;
        }
      }
    }
    throw failure == null ? new IOException("no address") : failure;
  }

  private Duration connectLimit(Deadline until) throws MediaException {
    long left = until.remainingNanos();
    if (left <= 0) {
      throw MediaException.unavailable();
    }
    return Duration.ofNanos(Math.min(left, settings.connectTimeout().toNanos()));
  }

  private Fetched read(HttpReply reply, Wish wish) throws IOException, MediaException {
    boolean part = wish.firstBytes() > 0;
    if (reply.status() != OK && !(part && reply.status() == PARTIAL)) {
      throw MediaException.unavailable();
    }
    var coding = reply.header("content-encoding");
    if (coding != null && !coding.equalsIgnoreCase("identity")) {
      throw new MediaException(
          MediaException.Reason.WRONG_TYPE,
          "its server answers with a content coding, which was not asked for");
    }
    long most = part ? wish.firstBytes() : settings.maxBytes();
    if (!part && reply.length() > most) {
      throw MediaException.tooLarge(most);
    }
    var bytes = body(reply, (int) most, part, wish.charge());
    var type = reply.header("content-type");
    return new Fetched(
        bytes,
        type == null ? "" : plain(type),
        Freshness.seconds(reply.header("cache-control"), reply.header("vary")));
  }

  private static String plain(String type) {
    return type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
  }

  /**
   * @param part whether more than {@code most} bytes are left unread, else refused
   */
  private byte[] body(HttpReply reply, int most, boolean part, MediaCharge charge)
      throws IOException, MediaException {
    long declared = reply.length();
    int room =
        (int) (declared < 0 ? Math.min(PIECE, most) : Math.min(declared, Math.min(PIECE, most)));
    charge.add(room);
    var bytes = new byte[room];
    int count = 0;
    while (true) {
      if (count == bytes.length) {
        if (count == most && part) {
          return bytes;
        }
        // one more byte tells a body that ends here from one that is too long
        int more = (int) Math.min(Math.max(PIECE, bytes.length), most + 1L - bytes.length);
        if (more <= 0) {
          throw MediaException.tooLarge(most);
        }
        charge.add(more);
        bytes = Arrays.copyOf(bytes, count + more);
      }
      int read = reply.read(bytes, count, bytes.length - count);
      if (read < 0) {
        return count == bytes.length ? bytes : Arrays.copyOf(bytes, count);
      }
      count += read;
      if (count > most) {
        throw MediaException.tooLarge(most);
      }
    }
  }
}
