package io.dynamo.frontend.media;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dynamo.concurrent.Cancellation;
import io.dynamo.concurrent.Deadline;
import io.dynamo.config.frontend.MediaSettings;
import io.dynamo.config.frontend.MediaSettings.Fetching;
import io.dynamo.error.CancelledException;
import io.dynamo.error.DeadlineExceededException;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.FrontendMetrics;
import io.dynamo.frontend.TestCard;
import io.dynamo.frontend.admission.BodyBudget;
import io.dynamo.frontend.media.pixels.AgentOfTests;
import io.dynamo.frontend.media.pixels.PixelDecoders;
import io.dynamo.frontend.media.pixels.PixelPool;
import io.dynamo.frontend.preprocess.ImageTokens;
import io.dynamo.inference.ExpandedPrompt;
import io.dynamo.metrics.Label;
import io.dynamo.metrics.Metrics;
import io.dynamo.model.CardMedia;
import io.dynamo.token.MediaHasher;
import io.dynamo.token.MediaPads;
import java.io.OutputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MediaIntakeTest {
  private static final int IMAGE = 77; // the placeholder
  private static final ImageTokens CELLS = new ImageTokens(IMAGE, 28, 784, 1 << 20);
  private static final byte[] PICTURE = Pictures.png(56, 84);
  private static final CardMedia IMAGES = new CardMedia(Map.of("image", Map.of()), Map.of());

  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Metrics metrics = new Metrics();
  private final BodyBudget budget = new BodyBudget(new BodyBudget.Limits(1 << 26, 1 << 20, 1024));
  private final BodyBudget.Share share = budget.open();
  private final Cancellation cancellation = new Cancellation();
  private @Nullable PixelDecoders decoders;

  @AfterEach
  void stop() {
    timer.shutdownNow();
    threads.shutdownNow();
  }

  private MediaIntake intake(MediaSettings settings) {
    return intake(
        settings, (_, _) -> List.of(InetAddress.getLoopbackAddress()), Duration.ofSeconds(20));
  }

  private MediaIntake intake(MediaSettings settings, HostResolver resolver, Duration measuring) {
    return intake(settings, resolver, measuring, null);
  }

  private MediaIntake intake(
      MediaSettings settings,
      HostResolver resolver,
      Duration measuring,
      @Nullable PixelDecoders decoders) {
    var meters = new MediaMeters(metrics);
    return new MediaIntake(
        settings,
        new MediaFetcher(
            settings, resolver, _ -> true, HttpGet.trusting(null), timer, Duration.ZERO, meters),
        new MediaCache(settings.cacheBytes(), System::nanoTime),
        decoders,
        threads,
        meters,
        measuring);
  }

  private static MediaSettings settings(Fetching fetching, HostileServer server) {
    return MediaFixture.settings(fetching, false, List.of(), server.port());
  }

  private MediaIntake.PromptMedia wanted(
      List<MediaPart> parts, CardMedia card, @Nullable ImageTokens images, int... tokens) {
    return wanted(parts, card, images, Deadline.after(Duration.ofSeconds(60)), tokens);
  }

  private MediaIntake.PromptMedia wanted(
      List<MediaPart> parts,
      CardMedia card,
      @Nullable ImageTokens images,
      Deadline deadline,
      int... tokens) {
    return new MediaIntake.PromptMedia(
        parts,
        TestCard.named("vision").build().withMedia(card),
        images,
        tokens,
        true,
        deadline,
        cancellation,
        share);
  }

  private static MediaPart image(String url) {
    return new MediaPart(MediaKind.IMAGE, url, null, "messages[0].content[0].image_url.url");
  }

  private static String url(HostileServer server, String path) {
    return "http://media.example:" + server.port() + path;
  }

  private static String sent(PreparedMedia media, int at) {
    return String.valueOf(slots(media).get(at).get("Url"));
  }

  private static List<Map<String, Object>> slots(PreparedMedia media) {
    return Objects.requireNonNull(media.slots().get("image_url"));
  }

  @Test
  void urlsArePassedOnUnlessTheCardHasADecoder() throws Exception {
    try (var server = new HostileServer(HostileServer.file("image/png", PICTURE))) {
      var url = url(server, "/a");
      var intake = intake(settings(Fetching.CARD, server));

      var passed = intake.prepare(wanted(List.of(image(url)), CardMedia.NONE, null, IMAGE));
      assertThat(passed.slots()).isEqualTo(Map.of("image_url", List.of(Map.of("Url", url))));
      assertThat(server.heads()).isEmpty();

      var fetched = intake.prepare(wanted(List.of(image(url)), IMAGES, null, IMAGE));
      assertThat(sent(fetched, 0)).isEqualTo(DataUrl.write("image/png", PICTURE));
      assertThat(fetched.heldBytes()).isEqualTo(sent(fetched, 0).length());
      assertThat(budget.heldBytes()).isGreaterThanOrEqualTo(fetched.heldBytes());
    }
  }

  @Test
  void otherKindsThanTheCardsStayWithTheWorker() throws Exception {
    try (var server = new HostileServer(HostileServer.file("image/png", PICTURE))) {
      var sound = new MediaPart(MediaKind.AUDIO, url(server, "/b"), null, "b");
      var known = new MediaPart(MediaKind.IMAGE, null, "picture-1", "c");
      var media =
          intake(settings(Fetching.CARD, server))
              .prepare(wanted(List.of(image(url(server, "/a")), sound, known), IMAGES, null));

      assertThat(media.slots().get("audio_url")).containsExactly(Map.of("Url", url(server, "/b")));
      assertThat(slots(media).get(1)).isEqualTo(Map.of("UuidOnly", "picture-1"));
      assertThat(server.heads()).hasSize(1);
    }
  }

  @Test
  void operatorsDecideForAllModels() throws Exception {
    try (var server = new HostileServer(HostileServer.file("image/png", PICTURE))) {
      var always = intake(settings(Fetching.ALWAYS, server));
      var never = intake(settings(Fetching.NEVER, server));

      assertThat(
              sent(
                  always.prepare(wanted(List.of(image(url(server, "/a"))), CardMedia.NONE, null)),
                  0))
          .startsWith("data:");
      assertThat(
              sent(
                  never.prepare(wanted(List.of(image(url(server, "/a"))), IMAGES, CELLS, IMAGE)),
                  0))
          .startsWith("http:");
      assertThat(server.heads()).hasSize(1);
    }
  }

  @Test
  void faultsNameTheirPart() throws Exception {
    try (var server =
        new HostileServer(
            HostileServer.file("text/html", "<html>".getBytes(StandardCharsets.US_ASCII)))) {
      var parts = List.of(new MediaPart(MediaKind.IMAGE, url(server, "/a"), null, "messages[3].x"));

      assertThatExceptionOfType(ApiException.class)
          .isThrownBy(
              () -> intake(settings(Fetching.ALWAYS, server)).prepare(wanted(parts, IMAGES, null)))
          .satisfies(
              e -> {
                assertThat(e.error().status()).isEqualTo(400);
                assertThat(e.error().code()).isEqualTo("invalid_media");
                assertThat(e.error().param()).isEqualTo("messages[3].x");
                assertThat(e.error().message()).contains("no PNG, JPEG, GIF, BMP or WebP");
              });
      assertThat(
              metrics
                  .counter(FrontendMetrics.MEDIA_FETCHES, new Label("outcome", "fetched"))
                  .value())
          .isEqualTo(1);
    }
  }

  @Test
  void imagesWithTooManyPixelsAreRefused() throws Exception {
    try (var server =
        new HostileServer(HostileServer.file("image/png", Pictures.claimed(60_000, 60_000)))) {
      assertThatExceptionOfType(ApiException.class)
          .isThrownBy(
              () ->
                  intake(settings(Fetching.ALWAYS, server))
                      .prepare(wanted(List.of(image(url(server, "/a"))), IMAGES, null)))
          .satisfies(e -> assertThat(e.error().message()).contains("max-pixels"));
    }
  }

  @Test
  void cardsBoundTheirImages() throws Exception {
    try (var server = new HostileServer(HostileServer.file("image/png", PICTURE))) {
      for (var limits :
          List.of(
              Map.of("max_image_width", 55),
              Map.of("max_image_height", 83),
              Map.of("max_alloc", 56 * 84 * 3 - 1))) {
        var card = new CardMedia(Map.of("image", Map.of("limits", limits)), Map.of());
        assertThatExceptionOfType(ApiException.class)
            .isThrownBy(
                () ->
                    intake(settings(Fetching.CARD, server))
                        .prepare(wanted(List.of(image(url(server, "/a"))), card, null)))
            .satisfies(e -> assertThat(e.error().message()).contains("the model's card allows"));
      }
    }
  }

  @Test
  void theMediaOfARequestAreBoundedTogether() throws Exception {
    var large = Arrays.copyOf(PICTURE, 800_000);
    try (var server = new HostileServer(HostileServer.file("image/png", large))) {
      var parts = List.of(image(url(server, "/a")), image(url(server, "/b")));

      assertThatExceptionOfType(ApiException.class)
          .isThrownBy(
              () -> intake(settings(Fetching.ALWAYS, server)).prepare(wanted(parts, IMAGES, null)))
          .satisfies(e -> assertThat(e.error().message()).contains("max-request-bytes"));
    }
  }

  @Test
  void routersKnowPromptsByTheirImages() throws Exception {
    try (var server = new HostileServer(HostileServer.file("image/png", PICTURE))) {
      var intake = intake(settings(Fetching.CARD, server));
      var first = url(server, "/a");
      var second = url(server, "/b");
      var media =
          intake.prepare(
              wanted(
                  List.of(image(first), image(second)), CardMedia.NONE, CELLS, 1, IMAGE, 2, IMAGE));

      int a = MediaPads.of(MediaHasher.ofUrl(first));
      int b = MediaPads.of(MediaHasher.ofUrl(second));
      assertThat(Objects.requireNonNull(media.expanded()).tokenIds())
          .containsExactly(1, a, a, a, a, a, a, 2, b, b, b, b, b, b);
      assertThat(media.hashes())
          .containsExactly(
              "%016x".formatted(MediaHasher.ofUrl(first)),
              "%016x".formatted(MediaHasher.ofUrl(second)));
      assertThat(sent(media, 0)).isEqualTo(first);
      assertThat(server.heads()).allMatch(head -> head.contains("Range: bytes=0-65535"));

      assertThat(media.heldBytes())
          .isEqualTo(4L * (2 * 14 + TestCard.named("x").build().blockTokens()));
      var one = new HashMap<String, Object>();
      var other = new HashMap<String, Object>();
      media.addTo(one, new HashMap<>());
      media.addTo(other, new HashMap<>());
      assertThat(one.get(ExpandedPrompt.FIELD))
          .isNotNull()
          .isSameAs(other.get(ExpandedPrompt.FIELD));

      intake.prepare(wanted(List.of(image(first)), CardMedia.NONE, CELLS, IMAGE));
      assertThat(server.heads()).as("its size is known").hasSize(2);
    }
  }

  @Test
  void theSameImageByUrlAndInlineIsOneOnceItIsFetched() throws Exception {
    try (var server = new HostileServer(HostileServer.file("image/png", PICTURE))) {
      var intake = intake(settings(Fetching.ALWAYS, server));
      var fetched =
          intake.prepare(wanted(List.of(image(url(server, "/a"))), CardMedia.NONE, CELLS, IMAGE));
      var inline =
          intake.prepare(
              wanted(
                  List.of(image(DataUrl.write("image/png", PICTURE))),
                  CardMedia.NONE,
                  CELLS,
                  IMAGE));

      assertThat(inline.hashes()).isEqualTo(fetched.hashes()).hasSize(1);
      assertThat(inline.slots()).isEqualTo(fetched.slots());
    }
  }

  @Test
  void imagesThatCannotBeMeasuredCountByTheirPlaceholders() throws Exception {
    try (var server =
        new HostileServer(HostileServer.with("404 Not Found\r\nContent-Length: 0", new byte[0]))) {
      var intake = intake(settings(Fetching.CARD, server));
      var lost = image(url(server, "/a"));
      var named = new MediaPart(MediaKind.IMAGE, url(server, "/a"), "u", "p");
      var inline = image(DataUrl.write("image/png", PICTURE));
      var film = new MediaPart(MediaKind.VIDEO, url(server, "/a"), null, "v");

      for (var wish :
          List.of(
              wanted(List.of(lost), CardMedia.NONE, CELLS, IMAGE),
              wanted(List.of(named), CardMedia.NONE, CELLS, IMAGE),
              wanted(List.of(inline, film), CardMedia.NONE, CELLS, IMAGE),
              wanted(List.of(inline), CardMedia.NONE, null, IMAGE),
              wanted(List.of(inline), CardMedia.NONE, CELLS, IMAGE, IMAGE),
              wanted(List.of(inline), CardMedia.NONE, CELLS, 5))) {
        var media = intake.prepare(wish);
        assertThat(media.expanded()).isNull();
        assertThat(media.hashes()).isEmpty();
        assertThat(media.slots().get("image_url")).hasSize(1);
      }
      assertThat(intake.prepare(wanted(List.of(inline), CardMedia.NONE, CELLS, IMAGE)).expanded())
          .isNotNull();
    }
  }

  @Test
  void fetchedMediaAreKept() throws Exception {
    try (var server = new HostileServer(HostileServer.file("image/png", PICTURE))) {
      var intake = intake(settings(Fetching.ALWAYS, server));
      var wish = wanted(List.of(image(url(server, "/a"))), CardMedia.NONE, null, IMAGE);

      assertThat(intake.prepare(wish).slots()).isEqualTo(intake.prepare(wish).slots());
      assertThat(server.heads()).hasSize(1);
    }
  }

  @Test
  void mediaFetchedByOtherRulesAreNotTheSame() throws Exception {
    try (var server = new HostileServer(HostileServer.file("image/png", PICTURE))) {
      var redirecting =
          HostileServer.with(
              "302 Found\r\nLocation: http://other.example:" + server.port() + "/b", new byte[0]);
      try (var first = new HostileServer(redirecting)) {
        var settings =
            MediaFixture.settings(Fetching.ALWAYS, false, List.of(), first.port(), server.port());
        var intake = intake(settings);
        var narrow =
            new CardMedia(Map.of(), Map.of("allowed_media_domains", List.of("media.example")));
        var parts = List.of(image(url(first, "/a")));

        assertThat(sent(intake.prepare(wanted(parts, CardMedia.NONE, null)), 0))
            .startsWith("data:");
        assertThatExceptionOfType(ApiException.class)
            .isThrownBy(() -> intake.prepare(wanted(parts, narrow, null)))
            .satisfies(e -> assertThat(e.error().code()).isEqualTo("invalid_media"));
      }
    }
  }

  @Test
  void theNumberOfMediaIsBoundedBeforeAnyIsFetched() throws Exception {
    try (var server = new HostileServer(HostileServer.file("image/png", PICTURE))) {
      var parts = Collections.nCopies(129, image(url(server, "/a")));

      assertThatExceptionOfType(ApiException.class)
          .isThrownBy(
              () ->
                  intake(settings(Fetching.ALWAYS, server))
                      .prepare(wanted(parts, CardMedia.NONE, null)))
          .satisfies(e -> assertThat(e.error().message()).contains("at most 128"));
      assertThat(
              intake(settings(Fetching.CARD, server))
                  .prepare(wanted(parts, CardMedia.NONE, CELLS))
                  .expanded())
          .isNull();
      assertThat(server.heads()).isEmpty();
    }
  }

  @Test
  void overloadIsNoFaultOfTheMedia() throws Exception {
    HostResolver full =
        (_, _) -> {
          throw MediaException.overloaded();
        };
    var parts = List.of(image("http://media.example/a"));
    var fetching =
        intake(
            MediaFixture.settings(Fetching.ALWAYS, false, List.of()), full, Duration.ofSeconds(20));
    var measuring = intake(MediaFixture.SETTINGS, full, Duration.ofSeconds(20));

    assertThatExceptionOfType(ApiException.class)
        .isThrownBy(() -> fetching.prepare(wanted(parts, IMAGES, null)))
        .satisfies(
            e -> {
              assertThat(e.error().status()).isEqualTo(503);
              assertThat(e.error().isOverload()).isTrue();
            });
    assertThat(measuring.prepare(wanted(parts, CardMedia.NONE, CELLS, IMAGE)).expanded()).isNull();
  }

  @Test
  void imagesOfARequestAreMeasuredInOneTime() throws Exception {
    try (var server =
        new HostileServer((_, out) -> silent(out, new CountDownLatch(1), new CountDownLatch(1)))) {
      var intake =
          intake(
              settings(Fetching.CARD, server),
              (_, _) -> List.of(InetAddress.getLoopbackAddress()),
              Duration.ofMillis(500));
      var parts = new ArrayList<MediaPart>();
      for (int i = 0; i < 6; i++) {
        parts.add(image("http://h%d.example:%d/".formatted(i, server.port())));
      }

      assertThat(intake.prepare(wanted(parts, CardMedia.NONE, CELLS, IMAGE)).expanded()).isNull();
      assertThat(server.heads()).as("those that were begun").hasSize(2);
      intake.prepare(wanted(parts.subList(0, 2), CardMedia.NONE, CELLS, IMAGE));
      assertThat(server.heads()).as("slow hosts are left alone").hasSize(2);
    }
  }

  @Test
  void aRequestFetchesFewMediaAtOnce() throws Exception {
    var running = new AtomicInteger();
    var most = new AtomicInteger();
    try (var server =
        new HostileServer(
            (target, out) -> {
              most.accumulateAndGet(running.incrementAndGet(), Math::max);
              running.decrementAndGet();
              HostileServer.file("image/png", PICTURE).answer(target, out);
            })) {
      var parts = new ArrayList<MediaPart>();
      for (int i = 0; i < 20; i++) {
        parts.add(image(url(server, "/" + i)));
      }
      var media = intake(settings(Fetching.ALWAYS, server)).prepare(wanted(parts, IMAGES, null));

      assertThat(media.slots().get("image_url"))
          .hasSize(20)
          .allMatch(slot -> sent(media, 0).startsWith("data:"));
      assertThat(most.get()).isLessThanOrEqualTo(2);
    }
  }

  @Test
  void clientsThatLeaveEndTheirFetches() throws Exception {
    var asked = new CountDownLatch(1);
    var left = new CountDownLatch(1);
    try (var server = new HostileServer((_, out) -> silent(out, asked, left))) {
      threads.execute(
          () -> {
            try {
              asked.await();
              cancellation.kill();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          });

      assertThatExceptionOfType(CancelledException.class)
          .isThrownBy(
              () ->
                  intake(settings(Fetching.ALWAYS, server))
                      .prepare(wanted(List.of(image(url(server, "/a"))), IMAGES, null)));
      left.await();
    }
  }

  @Test
  void lateRequestsEndTheirFetches() throws Exception {
    var left = new CountDownLatch(1);
    try (var server = new HostileServer((_, out) -> silent(out, new CountDownLatch(1), left))) {
      assertThatExceptionOfType(DeadlineExceededException.class)
          .isThrownBy(
              () ->
                  intake(settings(Fetching.ALWAYS, server))
                      .prepare(
                          wanted(
                              List.of(image(url(server, "/a"))),
                              IMAGES,
                              null,
                              Deadline.after(Duration.ofMillis(200)))));
      left.await();
    }
  }

  private MediaIntake decoding(HostileServer server, long poolBytes) {
    return decoding(Fetching.CARD, server, poolBytes);
  }

  private MediaIntake decoding(Fetching fetching, HostileServer server, long poolBytes) {
    var pool = PixelPool.opening(AgentOfTests.connector(null), poolBytes, Runnable::run);
    var bounds = new PixelDecoders.Bounds(2, 1 << 20, Duration.ofMinutes(1));
    decoders = new PixelDecoders(pool, bounds);
    return intake(
        settings(fetching, server),
        (_, _) -> List.of(InetAddress.getLoopbackAddress()),
        Duration.ofSeconds(20),
        decoders);
  }

  private long decodedBytes() {
    return Objects.requireNonNull(decoders).heldBytes();
  }

  @Test
  void decodedImagesAreKeptUntilTheRequestEnds() throws Exception {
    long bytes = 3 * 56 * 84 + 32; // in whole lines of a cache
    try (var server = new HostileServer(HostileServer.file("image/png", PICTURE));
        var intake = decoding(server, 2 * bytes)) {
      var parts = List.of(image(url(server, "/a")), image(DataUrl.write("image/png", PICTURE)));
      var media = intake.prepare(wanted(parts, IMAGES, CELLS, IMAGE, IMAGE));
      for (var slot : slots(media)) {
        assertThat(slot.keySet()).containsExactly("Decoded");
        assertThat(slot.toString()).contains("shape=[84, 56, 3]");
      }
      assertThat(media.hashes()).hasSize(2);
      assertThat(decodedBytes()).isEqualTo(2 * bytes);

      var stored = intake.prepare(wanted(parts.subList(0, 1), IMAGES, null, IMAGE));
      assertThat(sent(stored, 0)).as("no room").startsWith("data:image/png;base64,");

      share.close();
      assertThat(decodedBytes()).isZero();
    }
  }

  @Test
  void otherModelsImagesAreNotDecoded() throws Exception {
    try (var server = new HostileServer(HostileServer.file("image/png", PICTURE));
        var intake = decoding(Fetching.ALWAYS, server, 1 << 20)) {
      var url = url(server, "/a");
      var media = intake.prepare(wanted(List.of(image(url)), CardMedia.NONE, null, IMAGE));
      assertThat(sent(media, 0)).startsWith("data:image/png;base64,");
    }
  }

  @Test
  void damagedImagesAreRefusedAndOthersOfTheRequestFreed() throws Exception {
    try (var server = new HostileServer(HostileServer.file("image/png", PICTURE));
        var intake = decoding(server, 1 << 20)) {
      var cut = DataUrl.write("image/png", Arrays.copyOf(PICTURE, 60));
      var parts = List.of(image(DataUrl.write("image/png", PICTURE)), image(cut));
      assertThatExceptionOfType(ApiException.class)
          .isThrownBy(() -> intake.prepare(wanted(parts, IMAGES, null, IMAGE, IMAGE)))
          .satisfies(e -> assertThat(e.error().status()).isEqualTo(400))
          .satisfies(e -> assertThat(e.error().message()).contains("damaged"));
      share.close();
      for (int i = 0; i < 1000 && decodedBytes() > 0; i++) {
        LockSupport.parkNanos(10_000_000); // the other one may be at work yet
      }
      assertThat(decodedBytes()).isZero();
    }
  }

  /** Answers nothing but the bytes of a head without end, until the client leaves. */
  private static void silent(OutputStream out, CountDownLatch asked, CountDownLatch left)
      throws Exception {
    asked.countDown();
    try {
      while (true) {
        out.write('H');
        out.flush();
        LockSupport.parkNanos(1_000_000);
      }
    } finally {
      left.countDown();
    }
  }
}
