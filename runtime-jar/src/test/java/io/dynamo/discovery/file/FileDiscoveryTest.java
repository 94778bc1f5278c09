package io.dynamo.discovery.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.DiscoveryContract;
import io.dynamo.discovery.DiscoveryEvent;
import io.dynamo.discovery.DiscoveryEvent.Added;
import io.dynamo.discovery.DiscoveryEvent.Lost;
import io.dynamo.discovery.DiscoveryJson;
import io.dynamo.discovery.Instance;
import io.dynamo.discovery.InstanceId;
import io.dynamo.testing.Heard;
import io.dynamo.testing.ManualClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
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
    return new StoreView(new RecordFiles(root, () -> 1), List.of(Instance.BUCKET), TTL);
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
    clock.advance(TTL);
    assertThat(view.look(clock.instant())).containsValue(instance(7));

    clock.advance(Duration.ofMillis(1));

    assertThat(view.look(clock.instant())).isEmpty();
    assertThat(file("dynamo%2Fbackend%2Fgenerate%2F7")).doesNotExist();
  }

  @Test
  void aRenewedRecordOutlivesItsLease() throws IOException {
    try (var discovery = new FileDiscovery(root, TTL, new InstanceId(7), clock)) {
      discovery.register(instance(7));
      clock.advance(TTL);
      new RecordFiles(root, () -> 1).touch(instance(7), clock.instant());
      clock.advance(Duration.ofSeconds(5));

      assertThat(view().look(clock.instant())).containsValue(instance(7));
    }
  }

  @Test
  void aDirectoryThatVanishedIsMadeAgainWithOurRecords() throws Exception {
    try (var discovery = new FileDiscovery(root, TTL, new InstanceId(7), clock)) {
      var heard = new Heard<DiscoveryEvent<Instance>>();
      discovery.watch(Instance.class, heard);
      discovery.register(instance(7));
      assertThat(heard.next()).isEqualTo(new Added<>(instance(7)));

      try (var all = Files.walk(root.resolve("v1"))) {
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

  @Test
  void damagedFilesAreSkippedUntilTheyChange() throws IOException {
    var view = view();
    plant("dynamo%2Fbackend%2Fgenerate%2F7", new byte[] {'{', '"'});
    plant("dynamo%2Fbackend%2Fgenerate%2F8", DiscoveryJson.encode(instance(8)));
    plant("dynamo%2Fbackend%2Fgenerate%2F9", DiscoveryJson.encode(instance(10)));
    plant(".tmp_0123456789abcdef", DiscoveryJson.encode(instance(11)));
    assertThat(view.look(clock.instant()))
        .containsOnlyKeys(instance(8).bucket() + "/" + instance(8).key());

    clock.advance(Duration.ofSeconds(1));
    plant("dynamo%2Fbackend%2Fgenerate%2F7", DiscoveryJson.encode(instance(7)));

    assertThat(view.look(clock.instant()).values())
        .containsExactlyInAnyOrder(instance(7), instance(8));
  }

  @Test
  void fileNamesSurviveTheRoundTrip() {
    assertThat(FileNames.encode("ns-1/ü_x/e.p/1f")).isEqualTo("ns%2D1%2F%C3%BC%5Fx%2Fe%2Ep%2F1f");
    assertThat(FileNames.decode("ns%2D1%2F%C3%BC%5Fx%2Fe%2Ep%2F1f")).isEqualTo("ns-1/ü_x/e.p/1f");
  }
}
