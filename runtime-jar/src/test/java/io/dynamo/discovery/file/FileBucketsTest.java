package io.dynamo.discovery.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.discovery.Discovery;
import io.dynamo.discovery.InstanceId;
import io.dynamo.discovery.store.BucketName;
import io.dynamo.discovery.store.KeyValueStoreContract;
import io.dynamo.testing.ManualClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract of stores in a folder, and what files add to it. */
class FileBucketsTest extends KeyValueStoreContract {
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final BucketName NAME = new BucketName("v1/other");
  private static final byte[] VALUE = "1".getBytes(UTF_8);

  @TempDir private Path root;
  private final ManualClock clock = ManualClock.now();
  private final AtomicLong names = new AtomicLong();

  @Override
  protected Discovery join(InstanceId id) {
    return new FileDiscovery(root, TTL, id, InstantSource.system());
  }

  private FileBuckets buckets() throws IOException {
    var folder = StoreFolder.personal(root);
    var files = new RecordFiles(folder, names::incrementAndGet);
    return new FileBuckets(folder, files, TTL, clock, () -> {}, () -> {});
  }

  @Test
  void aKeyIsAFileWithDynamosName() throws IOException {
    var bucket = buckets().bucket(NAME);
    assertThat(bucket.create("readers/r-1", VALUE)).isPresent();
    assertThat(root.resolve("v1/other/readers%2Fr%2D1")).hasBinaryContent(VALUE);
    Files.write(root.resolve("v1/other/.tmp_0"), VALUE);
    Files.write(root.resolve("v1/other/%4"), VALUE);
    assertThat(bucket.entries()).containsOnlyKeys("readers/r-1");
  }

  @Test
  void aKeyOfASilentOwnerIsFreeAndOneThatIsRenewedIsNot() throws IOException {
    var owner = buckets();
    long revision = owner.bucket(NAME).create("k", VALUE).getAsLong();
    clock.advance(TTL);
    owner.renew();
    clock.advance(TTL);
    assertThat(buckets().bucket(NAME).get("k")).get().extracting("revision").isEqualTo(revision);

    clock.advance(Duration.ofSeconds(1));

    assertThat(buckets().bucket(NAME).get("k")).isEmpty();
    long next = buckets().bucket(NAME).create("k", VALUE).getAsLong();
    assertThat(next).isNotEqualTo(revision);
    owner.renew(); // nor does the one before prolong or delete what is not its own
    owner.close();
    assertThat(buckets().bucket(NAME).get("k")).get().extracting("revision").isEqualTo(next);
  }

  @Test
  void aFileThatIsTooLargeOrALinkIsNoKey() throws IOException {
    var bucket = buckets().bucket(NAME);
    assertThat(bucket.create("k", VALUE)).isPresent();
    var large = root.resolve("v1/other/large");
    Files.write(large, new byte[RecordFiles.MAX_BYTES + 1]);
    Files.setLastModifiedTime(large, FileTime.from(clock.instant()));
    Files.createSymbolicLink(root.resolve("v1/other/link"), root.resolve("v1/other/k"));
    assertThat(bucket.entries()).containsOnlyKeys("k");
  }

  @Test
  void filesOfDeadOwnersAreDeletedByThoseWhoWriteToTheBucket() throws IOException {
    assertThat(buckets().bucket(NAME).create("dead", VALUE)).isPresent();
    Files.write(root.resolve("v1/other/.tmp_0"), VALUE);
    Files.setLastModifiedTime(root.resolve("v1/other/.tmp_0"), FileTime.from(clock.instant()));
    clock.advance(TTL);
    var owner = buckets();
    assertThat(owner.bucket(NAME).create("live", VALUE)).isPresent();
    clock.advance(TTL);
    owner.renew();
    assertThat(root.resolve("v1/other/dead")).as("it may be renewed late").exists();

    clock.advance(Duration.ofSeconds(1));
    owner.renew();

    assertThat(root.resolve("v1/other/dead")).doesNotExist();
    assertThat(root.resolve("v1/other/.tmp_0")).doesNotExist();
    assertThat(owner.bucket(NAME).entries()).containsOnlyKeys("live");
  }

  @Test
  void theLockIsNotAmongTheRecordsThatDynamoDeletesWhenTheyAreOld() throws IOException {
    assertThat(buckets().bucket(NAME).create("k", VALUE)).isPresent();
    try (var files = Files.list(root.resolve("v1/other"))) {
      assertThat(files.map(file -> file.getFileName().toString())).containsExactly("k");
    }
    assertThat(root.resolve(".locks/v1%2Fother")).exists();
  }
}
