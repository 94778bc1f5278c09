package io.dynamo.discovery.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryContract;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryEvent.Added;
import io.dynamo.discovery.DiscoveryEvent.Lost;
import io.dynamo.discovery.DiscoveryJson;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.testing.ManualClock;
import io.dynamo.testing.Recorder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileDiscoveryTest extends DiscoveryContract {
  private static final Duration TTL = Duration.ofSeconds(10);

  @TempDir private Path root;
  private final ManualClock clock = ManualClock.now();

  @Override
  protected Discovery join(InstanceId id) {
    return new FileDiscovery(root, TTL, id, clock);
  }

  private StoreView view() {
    try {
      return new StoreView(
          StoreFolder.personal(root), List.of(Instance.BUCKET), TTL, clock, clock.nanoTime());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private RecordFiles files() throws IOException {
    return new RecordFiles(StoreFolder.personal(root), () -> 1);
  }

  private Path file(String name) {
    return root.resolve("v1/instances").resolve(name);
  }

  private void plant(String name, byte[] content) throws IOException {
    Files.createDirectories(root.resolve("v1/instances"));
    Files.write(file(name), content);
    Files.setLastModifiedTime(file(name), FileTime.from(clock.instant()));
  }

  @Test
  void aRecordIsAFileOfItsOwnWithDynamosNameAndNothingIsLeftBeside() throws IOException {
    try (var discovery = join(new InstanceId(0xd754c3ee5d3715dfL))) {
      discovery.register(instance(0xd754c3ee5d3715dfL));

      try (var files = Files.list(root.resolve("v1/instances"))) {
        assertThat(files).containsExactly(file("dynamo%2Fbackend%2Fgenerate%2Fd754c3ee5d3715df"));
      }
    }
  }

  @Test
  void aSilentOwnersFileIsReapedAndItsRecordLost() throws IOException {
    plant("dynamo%2Fbackend%2Fgenerate%2F7", DiscoveryJson.encode(instance(7)));
    var view = view();
    assertThat(view.look()).containsValue(instance(7));
    pass(view, TTL);
    assertThat(view.look()).containsValue(instance(7));

    clock.advance(Duration.ofMillis(1));

    assertThat(view.look()).isEmpty();
    assertThat(file("dynamo%2Fbackend%2Fgenerate%2F7")).doesNotExist();
  }

  /** Looks as often as discovery does while {@code time} passes. */
  private void pass(StoreView view, Duration time) throws IOException {
    for (int i = 0; i < 4; i++) {
      clock.advance(time.dividedBy(4));
      var _ = view.look();
    }
  }

  @Test
  void aFileWrittenTwiceWithinATickIsReadTwice() throws IOException {
    var view = view();
    plant("dynamo%2Fbackend%2Fgenerate%2F7", DiscoveryJson.encode(instance(7, "10.0.0.7:1")));
    assertThat(view.look()).containsValue(instance(7, "10.0.0.7:1"));

    plant("dynamo%2Fbackend%2Fgenerate%2F7", DiscoveryJson.encode(instance(7, "10.0.0.7:2")));

    assertThat(view.look()).containsValue(instance(7, "10.0.0.7:2"));
  }

  @Test
  void aRenewedRecordOutlivesItsLease() throws IOException {
    try (var discovery = new FileDiscovery(root, TTL, new InstanceId(7), clock)) {
      discovery.register(instance(7));
      clock.advance(TTL);
      files().touch(instance(7), clock.instant());
      clock.advance(Duration.ofSeconds(5));

      assertThat(view().look()).containsValue(instance(7));
    }
  }

  @Test
  void aDirectoryThatVanishedIsMadeAgainWithOurRecords() throws Exception {
    try (var discovery = new FileDiscovery(root, TTL, new InstanceId(7), clock)) {
      var heard = new Recorder<DiscoveryEvent<Instance>>();
      discovery.watch(Instance.class, heard);
      discovery.register(instance(7));
      assertThat(heard.next()).isEqualTo(new Added<>(instance(7)));

      // first out of the way at once: what is deleted is not made again meanwhile
      var gone = Files.move(root.resolve("v1"), root.resolve("gone"));
      try (var all = Files.walk(gone)) {
        for (var path : all.sorted(Comparator.reverseOrder()).toList()) {
          Files.deleteIfExists(path);
        }
      }

      assertThat(heard.next()).isEqualTo(new Lost<>(instance(7)));
      assertThat(heard.next()).isEqualTo(new Added<>(instance(7)));
      plant("dynamo%2Fbackend%2Fgenerate%2F8", DiscoveryJson.encode(instance(8)));
      assertThat(heard.next()).isEqualTo(new Added<>(instance(8)));
    }
  }

  /** Editors and build tools take them, too: the usual bound is 128 for all of a user's. */
  @Test
  void aKernelWithoutAWatchToGiveCostsTimeAlone() throws Exception {
    var asked = new CountDownLatch(2);
    FileDiscovery.DirectoryWatch none =
        () -> {
          asked.countDown();
          if (asked.getCount() > 0) {
            throw new IOException("User limit of inotify instances reached");
          }
          return root.getFileSystem().newWatchService();
        };
    try (var discovery = new FileDiscovery(root, false, TTL, new InstanceId(7), clock, none)) {
      var heard = new Recorder<DiscoveryEvent<Instance>>();
      discovery.watch(Instance.class, heard);
      plant("dynamo%2Fbackend%2Fgenerate%2F8", DiscoveryJson.encode(instance(8)));

      assertThat(heard.next()).isEqualTo(new Added<>(instance(8)));
      assertThat(asked.await(60, TimeUnit.SECONDS)).as("asked again").isTrue();
    }
  }

  @Test
  void damagedFilesAreSkippedUntilTheyChange() throws IOException {
    var view = view();
    plant("dynamo%2Fbackend%2Fgenerate%2F7", new byte[] {'{', '"'});
    plant("dynamo%2Fbackend%2Fgenerate%2F8", DiscoveryJson.encode(instance(8)));
    plant("dynamo%2Fbackend%2Fgenerate%2F9", DiscoveryJson.encode(instance(10)));
    plant(".tmp_0123456789abcdef", DiscoveryJson.encode(instance(11)));
    assertThat(view.look()).containsOnlyKeys(instance(8).bucket() + "/" + instance(8).key());

    clock.advance(Duration.ofSeconds(1));
    plant("dynamo%2Fbackend%2Fgenerate%2F7", DiscoveryJson.encode(instance(7)));

    assertThat(view.look().values()).containsExactlyInAnyOrder(instance(7), instance(8));
  }

  @Test
  void aRecordChangedInPlaceIsSeenAtTheNextLook() throws IOException {
    var view = view();
    plant("dynamo%2Fbackend%2Fgenerate%2F7", DiscoveryJson.encode(instance(7)));
    assertThat(view.look()).containsValue(instance(7));

    plant("dynamo%2Fbackend%2Fgenerate%2F7", DiscoveryJson.encode(instance(7, "10.0.0.17:1")));

    assertThat(view.look().values()).containsExactly(instance(7, "10.0.0.17:1"));
  }

  /** Creates a link to itself, whose attributes cannot be read by any user. */
  private Path unreadable(String name) throws IOException {
    Files.createDirectories(root.resolve("v1/instances"));
    var link = Files.createSymbolicLink(root.resolve("link"), Path.of(name));
    return Files.move(link, file(name), StandardCopyOption.ATOMIC_MOVE);
  }

  @Test
  void badEntriesCostTheOthersNothing() throws IOException {
    plant("dynamo%2Fbackend%2Fgenerate%2F8", DiscoveryJson.encode(instance(8)));
    unreadable("dynamo%2Fbackend%2Fgenerate%2F7");
    plant("dynamo%2", DiscoveryJson.encode(instance(9)));
    plant("dynamo%zz", DiscoveryJson.encode(instance(9)));
    var folder = Files.createDirectories(file("old/inner")).getParent();
    Files.setLastModifiedTime(folder, FileTime.from(clock.instant().minus(TTL.multipliedBy(2))));

    assertThat(view().look().values()).containsExactly(instance(8));
    assertThat(folder).isNotEmptyDirectory();
  }

  @Test
  void aRecordWhoseFileCannotBeReadStaysKnownForItsLease() throws IOException {
    var view = view();
    plant("dynamo%2Fbackend%2Fgenerate%2F7", DiscoveryJson.encode(instance(7)));
    assertThat(view.look()).containsValue(instance(7));

    unreadable("dynamo%2Fbackend%2Fgenerate%2F7");
    pass(view, TTL);
    assertThat(view.look()).containsValue(instance(7));
    clock.advance(Duration.ofMillis(1));

    assertThat(view.look()).isEmpty();
  }

  @Test
  void unfinishedFilesAreReapedWhenTheyAreOlderThanALease() throws IOException {
    plant(".tmp_0123456789abcdef", new byte[] {'{'});
    var view = view();
    assertThat(view.look()).isEmpty();
    pass(view, TTL);
    assertThat(file(".tmp_0123456789abcdef")).exists();

    clock.advance(Duration.ofMillis(1));
    assertThat(view.look()).isEmpty();

    assertThat(file(".tmp_0123456789abcdef")).doesNotExist();
  }

  /** The clock, with word of each time that a renewal asks it: once per record. */
  private InstantSource heardBy(Recorder<Instant> asked) {
    return () -> {
      var now = clock.instant();
      if (Thread.currentThread().getName().equals("discovery-file-lease")) {
        asked.accept(now);
      }
      return now;
    };
  }

  /** Awaits a renewal that begins from now on and ends. */
  private static void awaitRenewals(Recorder<Instant> asked, int records)
      throws InterruptedException {
    asked.rest();
    asked.next(2 * records + 1);
  }

  @Test
  void aListenerThatBlocksDoesNotLetOurLeaseLapse() throws Exception {
    var asked = new Recorder<Instant>();
    var entered = new CountDownLatch(1);
    var release = new CountDownLatch(1);
    try (var discovery =
        new FileDiscovery(root, Duration.ofSeconds(2), new InstanceId(7), heardBy(asked))) {
      discovery.watch(
          Instance.class,
          _ -> {
            entered.countDown();
            awaitQuietly(release);
          });
      discovery.register(instance(7));
      assertThat(entered.await(60, TimeUnit.SECONDS)).isTrue();
      clock.advance(Duration.ofSeconds(1));

      awaitRenewals(asked, 1);

      var file = files().file(instance(7));
      assertThat(Files.getLastModifiedTime(file).toInstant()).isEqualTo(clock.instant());
      release.countDown();
    }
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void aRecordThatCannotBeRenewedKeepsNoOtherFromIt() throws Exception {
    var asked = new Recorder<Instant>();
    try (var discovery =
        new FileDiscovery(root, Duration.ofSeconds(2), new InstanceId(7), heardBy(asked))) {
      for (int i = 0; i < 8; i++) {
        discovery.register(instance(i));
      }
      for (int i = 0; i < 8; i += 2) {
        unreadable("dynamo%2Fbackend%2Fgenerate%2F" + i);
      }
      clock.advance(Duration.ofSeconds(1));

      awaitRenewals(asked, 8);

      var files = files();
      for (int i = 1; i < 8; i += 2) {
        assertThat(Files.getLastModifiedTime(files.file(instance(i))).toInstant())
            .as("%d", i)
            .isEqualTo(clock.instant());
      }
    }
  }

  @Test
  void linksAreNoRecordsAndAreLeftAlone() throws IOException {
    plant("elsewhere", DiscoveryJson.encode(instance(7)));
    var elsewhere = Files.move(file("elsewhere"), root.resolve("elsewhere"));
    var link = Files.createSymbolicLink(file("dynamo%2Fbackend%2Fgenerate%2F7"), elsewhere);
    plant("dynamo%2Fbackend%2Fgenerate%2F8", DiscoveryJson.encode(instance(8)));
    var view = view();

    assertThat(view.look().values()).containsExactly(instance(8));
    pass(view, TTL.multipliedBy(2));

    assertThat(link).isSymbolicLink();
    assertThat(elsewhere).exists();
  }

  @Test
  void recordsOfOtherUsersDoNotCountUnlessTheStoreIsShared() throws IOException {
    plant("dynamo%2Fbackend%2Fgenerate%2F8", DiscoveryJson.encode(instance(8)));
    int user = (int) Files.getAttribute(root, "unix:uid");
    var stranger = StoreFolder.ofUser(root, user + 1);
    var status = stranger.status(file("dynamo%2Fbackend%2Fgenerate%2F8"));

    assertThat(stranger.trusts(status.user())).isFalse();
    assertThat(StoreFolder.ofUser(root, user).trusts(status.user())).isTrue();
    assertThat(StoreFolder.shared(root).trusts(status.user())).isTrue();
  }

  /** Only a superuser can give a file away, so that the view itself is shown where one runs. */
  @Test
  void aRecordThatBelongsToAnotherUserIsSkipped() throws IOException {
    plant("dynamo%2Fbackend%2Fgenerate%2F7", DiscoveryJson.encode(instance(7)));
    plant("dynamo%2Fbackend%2Fgenerate%2F8", DiscoveryJson.encode(instance(8)));
    int user = (int) Files.getAttribute(root, "unix:uid");
    assumeTrue(user == 0, "not the superuser");
    Files.setAttribute(file("dynamo%2Fbackend%2Fgenerate%2F7"), "unix:uid", 65_534);

    assertThat(view().look().values()).containsExactly(instance(8));
    assertThat(file("dynamo%2Fbackend%2Fgenerate%2F7")).exists();
  }

  @Test
  void aStepOfTheWallClockNeitherDeletesALiveRecordNorKeepsADeadOne() throws IOException {
    plant("dynamo%2Fbackend%2Fgenerate%2F7", DiscoveryJson.encode(instance(7)));
    plant("dynamo%2Fbackend%2Fgenerate%2F8", DiscoveryJson.encode(instance(8)));
    var view = view();
    assertThat(view.look().values()).containsExactlyInAnyOrder(instance(7), instance(8));

    clock.step(Duration.ofHours(1));
    pass(view, Duration.ofSeconds(2));
    files().touch(instance(7), clock.instant());
    clock.step(Duration.ofHours(-2));
    pass(view, Duration.ofSeconds(7));
    assertThat(view.look().values()).containsExactlyInAnyOrder(instance(7), instance(8));
    pass(view, Duration.ofSeconds(2));

    assertThat(view.look().values()).containsExactly(instance(7));
    assertThat(file("dynamo%2Fbackend%2Fgenerate%2F7")).exists();
    assertThat(file("dynamo%2Fbackend%2Fgenerate%2F8")).doesNotExist();
  }

  @Test
  void oversizedRecordsAreNeitherReadNorListed() throws IOException {
    plant("dynamo%2Fbackend%2Fgenerate%2F7", new byte[RecordFiles.MAX_BYTES + 1]);
    plant("dynamo%2Fbackend%2Fgenerate%2F8", DiscoveryJson.encode(instance(8)));

    assertThat(view().look().values()).containsExactly(instance(8));
    assertThatThrownBy(() -> RecordFiles.read(file("dynamo%2Fbackend%2Fgenerate%2F7")))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("more than 1048576 bytes");
  }

  @Test
  void aFileSystemWithoutHardLinksIsNamed() throws IOException {
    try (var zip = FileSystems.newFileSystem(root.resolve("s.zip"), Map.of("create", "true"))) {
      var files = new RecordFiles(StoreFolder.shared(zip.getPath("/store")), () -> 1);

      assertThatThrownBy(() -> files.create(instance(7), clock.instant()))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("without hard links")
          .hasMessageContaining("dynamo.discovery.file-root");
    }
  }

  @Test
  void fileNamesSurviveTheRoundTrip() {
    assertThat(FileNames.encode("ns-1/ü_x/e.p/1f")).isEqualTo("ns%2D1%2F%C3%BC%5Fx%2Fe%2Ep%2F1f");
    assertThat(FileNames.decode("ns%2D1%2F%C3%BC%5Fx%2Fe%2Ep%2F1f")).isEqualTo("ns-1/ü_x/e.p/1f");
  }

  @Test
  void namesOfOthersAreReadOrRefusedButNeverOverrun() {
    assertThat(FileNames.decode("üüü%2F")).isEqualTo("üüü/");
    for (var name : List.of("%", "a%2", "üüü%2", "%zz", "%ü")) {
      assertThatThrownBy(() -> FileNames.decode(name))
          .as(name)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
