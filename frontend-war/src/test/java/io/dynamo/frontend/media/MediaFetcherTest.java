package io.dynamo.frontend.media;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.concurrent.Deadline;
import io.dynamo.config.frontend.MediaSettings;
import io.dynamo.config.frontend.MediaSettings.Fetching;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.media.MediaException.Reason;
import io.dynamo.metrics.Metrics;
import io.dynamo.model.CardMedia;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The fetcher against servers and resolvers that mean harm; loopback plays the internet. */
class MediaFetcherTest {
  private static final byte[] PICTURE = Pictures.png(2, 3);
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final List<String> lookups = new ArrayList<>();
  private final BodyBudget budget = new BodyBudget(new BodyBudget.Limits(1 << 26, 1 << 20, 1024));
  private final BodyBudget.Share share = budget.open();

  @AfterEach
  void stop() {
    timer.shutdownNow();
    share.close();
  }

  private MediaFetcher fetcher(MediaSettings settings) {
    return new MediaFetcher(
        settings,
        (host, _) -> {
          lookups.add(host);
          return switch (host) {
            case "media.example", "a.b.other.example", "127.0.0.1", "localhost" ->
                List.of(LOOPBACK);
            case "inside.example" -> List.of(InetAddress.ofLiteral("169.254.169.254"));
            case "mixed.example" -> List.of(LOOPBACK, InetAddress.ofLiteral("10.0.0.1"));
            case "rebound.example" ->
                List.of(lookups.size() == 1 ? LOOPBACK : InetAddress.ofLiteral("10.0.0.1"));
            default -> List.of();
          };
        },
        address -> address.isLoopbackAddress() || PublicAddresses.isPublic(address),
        HttpGet.trusting(null),
        timer,
        Duration.ZERO,
        new MediaMeters(new Metrics()));
  }

  private MediaFetcher.Fetched fetch(MediaSettings settings, String url) throws Exception {
    return fetch(settings, url, CardMedia.NONE, LONG);
  }

  /** Fetches on a virtual thread, as the server does. */
  private MediaFetcher.Fetched fetch(
      MediaSettings settings, String url, CardMedia card, Duration time) throws Exception {
    var rules = FetchRules.of(settings, card);
    var wish =
        new MediaFetcher.Wish(
            MediaKind.IMAGE, url, 0, false, rules, Deadline.after(time), new MediaCharge(share));
    var result = new CompletableFuture<MediaFetcher.Fetched>();
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                result.complete(fetcher(settings).fetch(wish));
              } catch (Exception e) {
                result.completeExceptionally(e);
              }
            });
    try {
      return result.orTimeout(60, TimeUnit.SECONDS).join();
    } catch (CompletionException e) {
      throw (Exception) e.getCause();
    }
  }

  private static MediaSettings settings(HostileServer server) {
    return MediaFixture.settings(Fetching.ALWAYS, false, List.of(), server.port());
  }

  private static String url(String host, HostileServer server) {
    return "http://" + host + ":" + server.port() + "/a.png?b=c";
  }

  private void assertRefused(Reason reason, HostileServer server, String url) {
    assertThatExceptionOfType(MediaException.class)
        .isThrownBy(() -> fetch(settings(server), url))
        .satisfies(e -> assertThat(e.reason()).as(e.getMessage()).isEqualTo(reason));
  }

  @Test
  void filesOfPublicHostsAreFetched() throws Exception {
    try (var server = new HostileServer(HostileServer.file("image/png; a=b", PICTURE))) {
      var fetched = fetch(settings(server), url("Media.Example.", server));

      assertThat(fetched.bytes()).isEqualTo(PICTURE);
      assertThat(fetched.type()).isEqualTo("image/png");
      assertThat(server.heads().getFirst())
          .containsExactlyInAnyOrder(
              "GET /a.png?b=c HTTP/1.1",
              "Host: media.example:" + server.port(),
              "User-Agent: dynamo",
              "Accept: image/*",
              "Accept-Encoding: identity",
              "Connection: close");
      assertThat(lookups).containsExactly("media.example");
    }
  }

  @Test
  void fetchedBytesAreChargedToTheRequest() throws Exception {
    var large = new byte[300_000];
    try (var server = new HostileServer(HostileServer.file("image/png", large))) {
      fetch(settings(server), url("media.example", server));

      assertThat(budget.heldBytes()).isBetween(300_000L, 700_000L);
    }
  }

  @Test
  void bodiesInChunksAndUntilTheEndAreRead() throws Exception {
    var chunks = "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n".getBytes(ISO_8859_1);
    for (var script :
        List.of(
            HostileServer.with("200 OK\r\nTransfer-Encoding: chunked", chunks),
            HostileServer.with("200 OK", "abcde".getBytes(UTF_8)),
            HostileServer.with(
                "103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK", "abcde".getBytes(UTF_8)))) {
      try (var server = new HostileServer(script)) {
        assertThat(fetch(settings(server), url("media.example", server)).bytes())
            .asString(UTF_8)
            .isEqualTo("abcde");
      }
    }
  }

  @Test
  void namesWithInsideAddressesAreNotConnectedTo() throws Exception {
    try (var server = new HostileServer(HostileServer.file("image/png", PICTURE))) {
      assertRefused(Reason.UNAVAILABLE, server, url("inside.example", server));
      assertRefused(Reason.UNAVAILABLE, server, url("mixed.example", server));
      assertRefused(Reason.UNAVAILABLE, server, url("unknown.example", server));

      assertThat(server.heads()).isEmpty();
    }
  }

  @Test
  void aNameIsLookedUpOnceForEachConnection() throws Exception {
    try (var server = new HostileServer(HostileServer.file("image/png", PICTURE))) {
      assertThat(fetch(settings(server), url("rebound.example", server)).bytes())
          .isEqualTo(PICTURE); // a second lookup would have led inside
      assertThat(lookups).hasSize(1);
    }
  }

  @Test
  void clientsCannotTellWhyNothingWasFetched() throws Exception {
    var messages = new ArrayList<String>();
    int closed;
    try (var gone = new ServerSocket(0, 1, LOOPBACK)) {
      closed = gone.getLocalPort();
    }
    try (var server =
        new HostileServer(HostileServer.with("404 Not Found\r\nContent-Length: 0", new byte[0]))) {
      for (var url :
          List.of(
              url("inside.example", server),
              url("unknown.example", server),
              url("media.example", server),
              "http://media.example:" + closed + "/a.png?b=c")) {
        assertThatExceptionOfType(MediaException.class)
            .isThrownBy(
                () ->
                    fetch(
                        MediaFixture.settings(
                            Fetching.ALWAYS, false, List.of(), server.port(), closed),
                        url))
            .satisfies(e -> messages.add(e.getMessage()));
      }
    }
    assertThat(messages).hasSize(4).containsOnly(messages.getFirst());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ftp://media.example/a",
        "file:///etc/passwd",
        "http:///a",
        "http://user:word@media.example/a",
        "http://media.example@inside.example/a",
        "http://127.0.0.1/a",
        "http://[::1]/a",
        "http://2130706433/a",
        "http://localhost/a",
        "http://etcd/a",
        "http://x.localhost/a",
        "http://metadata.google.internal/a",
        "http://kubernetes.default.svc/a",
        "http://media.example:22/a",
        "http://media.example:6379/a",
        "http://media.example/a b",
        "http://media.example/\r\nX: y",
        "http://me\u0434ia.example/a"
      })
  void urlsThatNoServerOfMediaHasAreRefusedByTheirText(String url) throws Exception {
    try (var server = new HostileServer(HostileServer.file("image/png", PICTURE))) {
      assertRefused(Reason.NOT_ALLOWED, server, url);
      assertThat(lookups).isEmpty();
    }
  }

  @Test
  void operatorsAndCardsNameTheOnlyHosts() throws Exception {
    try (var server = new HostileServer(HostileServer.file("image/png", PICTURE))) {
      var named =
          MediaFixture.settings(Fetching.ALWAYS, false, List.of("*.example"), server.port());
      var others =
          MediaFixture.settings(Fetching.ALWAYS, false, List.of("other.example"), server.port());
      var card = new CardMedia(Map.of(), Map.of("allowed_media_domains", List.of("other.example")));

      assertThat(fetch(named, url("media.example", server)).bytes()).isEqualTo(PICTURE);
      assertThatExceptionOfType(MediaException.class)
          .isThrownBy(() -> fetch(others, url("media.example", server)));
      assertThatExceptionOfType(MediaException.class)
          .isThrownBy(() -> fetch(named, url("media.example", server), card, LONG));
      assertThat(server.heads()).hasSize(1);
    }
  }

  @Test
  void cardsDoNotOpenTheInside() throws Exception {
    try (var server = new HostileServer(HostileServer.file("image/png", PICTURE))) {
      var card =
          new CardMedia(
              Map.of(),
              Map.of(
                  "allow_private_ips", true, "allow_direct_ip", true, "allow_direct_port", true));

      assertThatExceptionOfType(MediaException.class)
          .isThrownBy(() -> fetch(settings(server), url("inside.example", server), card, LONG));
    }
  }

  @Test
  void operatorsMayOpenTheInside() throws Exception {
    try (var server = new HostileServer(HostileServer.file("image/png", PICTURE))) {
      var open = MediaFixture.settings(Fetching.ALWAYS, true, List.of());

      assertThat(fetch(open, url("127.0.0.1", server)).bytes()).isEqualTo(PICTURE);
      assertThat(fetch(open, url("localhost", server)).bytes()).isEqualTo(PICTURE);
    }
  }

  @Test
  void redirectsAreFollowedToPublicHostsAlone() throws Exception {
    try (var server =
        new HostileServer(
            (target, out) -> {
              var to =
                  switch (target) {
                    case "/near" -> "/a.png?b=c";
                    case "/inside" -> "http://inside.example/latest/meta-data";
                    case "/loopback" -> "http://127.0.0.1/";
                    case "/decimal" -> "http://2130706433/";
                    case "/file" -> "file:///etc/passwd";
                    case "/loop" -> "/loop";
                    default -> null;
                  };
              var script =
                  to == null
                      ? HostileServer.file("image/png", PICTURE)
                      : HostileServer.with("302 Found\r\nLocation: " + to, new byte[0]);
              script.answer(target, out);
            })) {
      var base = "http://media.example:" + server.port();

      assertThat(fetch(settings(server), base + "/near").bytes()).isEqualTo(PICTURE);
      for (var path : List.of("/inside", "/loopback", "/decimal", "/file")) {
        lookups.clear();
        assertRefused(Reason.UNAVAILABLE, server, base + path);
      }
      int before = server.heads().size();
      assertRefused(Reason.UNAVAILABLE, server, base + "/loop");
      assertThat(server.heads()).hasSize(before + 6); // the first and five redirects
    }
  }

  @Test
  void declaredLengthsAreRefusedUnread() throws Exception {
    try (var server =
        new HostileServer(
            HostileServer.with("200 OK\r\nContent-Length: 999999999999", new byte[10]))) {
      assertRefused(Reason.TOO_LARGE, server, url("media.example", server));
    }
  }

  @Test
  void endlessBodiesAreCutAtTheBound() throws Exception {
    try (var server =
        new HostileServer(
            (_, out) -> {
              out.write("HTTP/1.1 200 OK\r\n\r\n".getBytes(ISO_8859_1));
              var zeros = new byte[1 << 16];
              while (true) {
                out.write(zeros);
              }
            })) {
      assertRefused(Reason.TOO_LARGE, server, url("media.example", server));
      assertThat(budget.heldBytes()).isLessThan(4L << 20);
    }
  }

  @Test
  void compressedBodiesAreNotRead() throws Exception {
    try (var server =
        new HostileServer(
            HostileServer.with(
                "200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3", new byte[3]))) {
      assertRefused(Reason.WRONG_TYPE, server, url("media.example", server));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/2 200 OK\r\n\r\n",
        "HTTP/1.1 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nno header\r\n\r\n",
        "HTTP/1.1 200 OK\r\n folded: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdef",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        "HTTP/1.1 206 Partial Content\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.1 500 Oops\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.1 302 Found\r\n\r\n"
      })
  void malformedAnswersAreRefused(String answer) throws Exception {
    try (var server = new HostileServer((_, out) -> out.write(answer.getBytes(ISO_8859_1)))) {
      assertRefused(Reason.UNAVAILABLE, server, url("media.example", server));
    }
  }

  @Test
  void endlessHeadsAreRefused() throws Exception {
    try (var server =
        new HostileServer(
            (_, out) -> {
              out.write("HTTP/1.1 200 OK\r\n".getBytes(ISO_8859_1));
              while (true) {
                out.write("a: b\r\n".getBytes(ISO_8859_1));
              }
            })) {
      assertRefused(Reason.UNAVAILABLE, server, url("media.example", server));
    }
  }

  @Test
  void serversThatDripAreLeftInTime() throws Exception {
    for (var beginning : List.of("", "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")) {
      try (var server =
          new HostileServer(
              (_, out) -> {
                out.write(beginning.getBytes(ISO_8859_1));
                while (true) {
                  out.write('H');
                  out.flush();
                  LockSupport.parkNanos(1_000_000);
                }
              })) {
        assertThatExceptionOfType(MediaException.class)
            .isThrownBy(
                () ->
                    fetch(
                        settings(server),
                        url("media.example", server),
                        CardMedia.NONE,
                        Duration.ofMillis(300)))
            .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.UNAVAILABLE));
      }
    }
  }

  @Test
  void interruptedFetchesCloseTheirConnection() throws Exception {
    var asked = new CountDownLatch(1);
    var left = new CountDownLatch(1);
    try (var server =
        new HostileServer(
            (_, out) -> {
              asked.countDown();
              try {
                while (true) {
                  out.write('H');
                  out.flush();
                }
              } finally {
                left.countDown();
              }
            })) {
      var settings = settings(server);
      var ended = new CompletableFuture<Exception>();
      var wish =
          new MediaFetcher.Wish(
              MediaKind.IMAGE,
              "http://media.example:" + server.port() + "/",
              0,
              false,
              FetchRules.of(settings, CardMedia.NONE),
              Deadline.after(LONG),
              new MediaCharge(share));
      var thread =
          Thread.ofVirtual()
              .start(
                  () -> {
                    try {
                      fetcher(settings).fetch(wish);
                      ended.complete(new IllegalStateException("fetched"));
                    } catch (Exception e) {
                      ended.complete(e);
                    }
                  });
      asked.await();
      thread.interrupt();

      assertThat(ended.get(60, TimeUnit.SECONDS))
          .isInstanceOfAny(InterruptedException.class, MediaException.class);
      assertThat(left.await(60, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void oneDomainDoesNotTakeAllFetches() throws Exception {
    var asked = new CountDownLatch(4);
    try (var silent =
            new HostileServer(
                (_, out) -> {
                  asked.countDown();
                  while (true) {
                    out.write('H');
                    out.flush();
                    LockSupport.parkNanos(1_000_000);
                  }
                });
        var good = new HostileServer(HostileServer.file("image/png", PICTURE))) {
      var settings =
          MediaFixture.settings(Fetching.ALWAYS, false, List.of(), silent.port(), good.port());
      var fetcher = fetcher(settings);
      var slow = new ArrayList<Thread>();
      for (int i = 0; i < 4; i++) { // of 8
        slow.add(
            Thread.ofVirtual()
                .start(
                    () -> {
                      try {
                        fetcher.fetch(wish(settings, url("media.example", silent), false, LONG));
                      } catch (Exception e) {
                        // interrupted at the end
                      }
                    }));
      }
      asked.await();

      var late = wish(settings, url("media.example", good), false, Duration.ofMillis(200));
      assertThatExceptionOfType(MediaException.class)
          .isThrownBy(() -> fetcher.fetch(late))
          .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.OVERLOADED));
      var optional = wish(settings, url("media.example", good), true, LONG);
      assertThatExceptionOfType(MediaException.class)
          .isThrownBy(() -> fetcher.fetch(optional))
          .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.OVERLOADED));
      assertThat(good.heads()).isEmpty();
      assertThat(fetcher.fetch(wish(settings, url("a.b.other.example", good), true, LONG)).bytes())
          .isEqualTo(PICTURE);
      slow.forEach(Thread::interrupt);
    }
  }

  private MediaFetcher.Wish wish(
      MediaSettings settings, String url, boolean optional, Duration time) {
    return new MediaFetcher.Wish(
        MediaKind.IMAGE,
        url,
        0,
        optional,
        FetchRules.of(settings, CardMedia.NONE),
        Deadline.after(time),
        new MediaCharge(share));
  }
}
