package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dynamo.json.JsonObject;
import io.dynamo.transfer.nixl.Connector;
import io.dynamo.transfer.nixl.Descriptor;
import io.dynamo.transfer.nixl.NixlException;
import io.dynamo.transfer.nixl.NixlLimits;
import io.dynamo.transfer.nixl.OperationStatus;
import io.dynamo.transfer.nixl.RdmaMetadata;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

/**
 * Operations of ours with NVIDIA's {@code dynamo.nixl_connect}, by NIXL's UCX over shared memory
 * and loopback. The Python environment that {@code -Ddynamo.it.peer} names has both; the tests are
 * left out without it. All but the first are of the full tier ({@code -Ddynamo.it.seed=all}).
 */
class NixlConnectTest {
  private static final Duration LONG = Duration.ofMinutes(2);
  private static final List<Integer> SIZES = List.of(1 << 20, 1, 4096 + 3);

  @TempDir private Path folder;
  private Connector connector;
  private NixlPeer peer;

  @BeforeEach
  void start() throws IOException {
    assumeTrue(NixlPeer.isConfigured(), "left out: -Ddynamo.it.peer names no Python environment");
    var library = new NixlLibrary(NixlPeer.packages(), null, List.of(NixlLibrary.Backend.UCX));
    var id = UUID.randomUUID().toString();
    connector = new Connector("java-" + id, library, NixlLimits.STANDARD);
    peer = NixlPeer.start("python-" + id, folder);
  }

  @AfterEach
  void stop() {
    if (connector != null) {
      connector.close();
      peer.close();
    }
  }

  static boolean isFullTier() {
    var seed = System.getProperty("dynamo.it.seed", "");
    return seed.isEmpty() || seed.equals("all");
  }

  private static MemorySegment pattern(long seed, int size) {
    var bytes = Arena.ofAuto().allocate(size);
    for (int i = 0; i < size; i++) {
      bytes.set(ValueLayout.JAVA_BYTE, i, (byte) ((seed + i * 31L) >> 3));
    }
    return bytes;
  }

  private static List<Descriptor> filled(long seed) {
    return IntStream.range(0, SIZES.size())
        .mapToObj(i -> Descriptor.of(pattern(seed + i, SIZES.get(i))))
        .toList();
  }

  private static List<Descriptor> empty() {
    return SIZES.stream().map(size -> Descriptor.of(Arena.ofAuto().allocate(size))).toList();
  }

  private static void requirePattern(List<Descriptor> descriptors, long seed) {
    for (int i = 0; i < descriptors.size(); i++) {
      var bytes = descriptors.get(i).bytes();
      assertThat(bytes.mismatch(pattern(seed + i, (int) bytes.byteSize()))).isEqualTo(-1);
    }
  }

  private static List<Object> sums(long seed) {
    return IntStream.range(0, SIZES.size())
        .<Object>mapToObj(
            i -> {
              var crc = new CRC32();
              crc.update(pattern(seed + i, SIZES.get(i)).asByteBuffer());
              return crc.getValue();
            })
        .toList();
  }

  private static void until(BooleanSupplier condition) {
    long end = System.nanoTime() + LONG.toNanos();
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime() - end).as("in time").isNegative();
      Thread.onSpinWait();
    }
  }

  private static RdmaMetadata metadata(JsonObject answer) {
    return RdmaMetadata.of(answer.text("metadata").getBytes(StandardCharsets.UTF_8));
  }

  private static List<Object> sums(JsonObject state) {
    return state.list("sums").stream().map(NixlConnectTest::number).toList();
  }

  private static Object number(@Nullable Object sum) {
    return sum instanceof Number number ? number.longValue() : "none";
  }

  @Test
  void javaReadsFromPythonAndWritesToIt() throws Exception {
    requireReadsAndWrites();
  }

  private void requireReadsAndWrites() throws Exception {
    var offered = metadata(peer.ask("do", "readable", "seed", 5, "sizes", SIZES));
    var into = empty();
    try (var read = connector.beginRead(offered, into, LONG)) {
      read.await(LONG);
      requirePattern(read.results(), 5);
    }
    assertThat(peer.ask("do", "wait", "seconds", 60).text("status")).isEqualTo("DONE");

    var writable = metadata(peer.ask("do", "writable", "sizes", SIZES));
    try (var write = connector.beginWrite(filled(9), writable, LONG)) {
      write.await(LONG);
      assertThat(write.status()).isEqualTo(OperationStatus.COMPLETE);
    }
    var state = peer.ask("do", "wait", "seconds", 60);
    assertThat(state.text("status")).isEqualTo("DONE");
    assertThat(sums(state)).isEqualTo(sums(9));
  }

  @Test
  @EnabledIf("isFullTier")
  void pythonReadsFromJavaAndWritesToIt() throws Exception {
    try (var readable = connector.createReadable(filled(3), LONG)) {
      peer.ask("do", "read", "sizes", SIZES, "metadata", text(readable.metadata(LONG)));
      var state = peer.ask("do", "wait", "seconds", 60);
      assertThat(sums(state)).isEqualTo(sums(3));
      readable.await(LONG);
      assertThat(readable.status()).isEqualTo(OperationStatus.COMPLETE);
    }
    peer.ask("do", "drop");
    var into = empty();
    try (var writable = connector.createWritable(into, LONG)) {
      var offer = text(writable.metadata(LONG));
      peer.ask("do", "write", "seed", 4, "sizes", SIZES, "metadata", offer);
      peer.ask("do", "wait", "seconds", 60);
      writable.await(LONG);
      requirePattern(into, 4);
    }
  }

  private static String text(RdmaMetadata metadata) {
    return new String(metadata.toJson(), StandardCharsets.UTF_8);
  }

  @Test
  @EnabledIf("isFullTier")
  void hexadecimalMetadataOfEarlierVersionsIsRead() throws Exception {
    var offered =
        metadata(peer.ask("do", "readable", "seed", 1, "sizes", List.of(100), "hex", true));
    assertThat(offered.nixlMetadata()).doesNotContain(":");
    var into = Descriptor.of(Arena.ofAuto().allocate(100));
    connector.beginRead(offered, List.of(into), LONG).await(LONG);
    requirePattern(List.of(into), 1);
  }

  @Test
  @EnabledIf("isFullTier")
  void closingOperationsLeavesWhatTheUserRegistered() throws Exception {
    var pool = Arena.ofAuto().allocate(1 << 20);
    try (var whole = Descriptor.of(pool)) {
      whole.register(connector);
      for (int i = 0; i < 3; i++) {
        var offered = metadata(peer.ask("do", "readable", "seed", i, "sizes", List.of(1000)));
        var part = Descriptor.of(pool.asSlice(5000L * i, 1000));
        connector.beginRead(offered, List.of(part), LONG).await(LONG);
        requirePattern(List.of(part), i);
        assertThat(whole.isRegistered()).isTrue();
        peer.ask("do", "wait", "seconds", 60);
      }
    }
  }

  @Test
  @EnabledIf("isFullTier")
  void operationsWithManyDescriptorsKeepTheirOrder() throws Exception {
    var sizes = IntStream.range(1, 300).boxed().toList();
    var offered = metadata(peer.ask("do", "readable", "seed", 77, "sizes", sizes));
    var into = sizes.stream().map(size -> Descriptor.of(Arena.ofAuto().allocate(size))).toList();
    connector.beginRead(offered, into, LONG).await(LONG);
    requirePattern(into, 77);
  }

  @Test
  @EnabledIf("isFullTier")
  void cancelledOffersEndAndTheConnectorGoesOn() throws Exception {
    var readable = connector.createReadable(filled(3), LONG);
    readable.metadata(LONG);
    readable.cancel();
    var failure = catchThrowableOfType(NixlException.class, () -> readable.await(LONG));
    assertThat(failure.reason()).isEqualTo(NixlException.Reason.CANCELLED);
    assertThat(readable.status()).isEqualTo(OperationStatus.CANCELLED);
    requireReadsAndWrites();
  }

  @Test
  @EnabledIf("isFullTier")
  void readsFromAPeerThatWasKilledFailByType() throws Exception {
    var offered = metadata(peer.ask("do", "readable", "seed", 5, "sizes", SIZES));
    peer.kill();
    var read = connector.beginRead(offered, empty(), Duration.ofSeconds(20));
    var failure = catchThrowableOfType(NixlException.class, () -> read.await(LONG));
    assertThat(failure.reason()).isEqualTo(NixlException.Reason.PEER_LOST);
    assertThat(read.status()).isEqualTo(OperationStatus.ERRORED);
  }

  @Test
  @EnabledIf("isFullTier")
  void readsThatAreOnTheirWayWhenThePeerIsKilledFailAsLost() throws Exception {
    var offered = metadata(peer.ask("do", "readable", "seed", 5, "sizes", SIZES));
    peer.signal("STOP");
    var read = connector.beginRead(offered, empty(), LONG);
    until(() -> read.status() == OperationStatus.IN_PROGRESS);
    peer.kill();
    var failure = catchThrowableOfType(NixlException.class, () -> read.await(LONG));
    assertThat(failure.reason()).isEqualTo(NixlException.Reason.PEER_LOST);
    assertThat(read.status()).isEqualTo(OperationStatus.ERRORED);
  }

  @Test
  @EnabledIf("isFullTier")
  void readsThatAreOnTheirWayCanBeCancelled() throws Exception {
    var offered = metadata(peer.ask("do", "readable", "seed", 5, "sizes", SIZES));
    peer.signal("STOP");
    try {
      var read = connector.beginRead(offered, empty(), LONG);
      until(() -> read.status() == OperationStatus.IN_PROGRESS);
      read.cancel();
      var failure = catchThrowableOfType(NixlException.class, () -> read.await(LONG));
      assertThat(failure.reason()).isEqualTo(NixlException.Reason.CANCELLED);
      assertThat(read.status()).isEqualTo(OperationStatus.CANCELLED);
    } finally {
      peer.signal("CONT");
    }
  }

  @Test
  @EnabledIf("isFullTier")
  void aWriterThatIsKilledLetsTheOfferEndByItsLease() throws Exception {
    var writable = connector.createWritable(empty(), Duration.ofSeconds(2));
    assertThat(writable.metadata(LONG).descriptors()).hasSize(SIZES.size());
    peer.kill();
    var failure = catchThrowableOfType(NixlException.class, () -> writable.await(LONG));
    assertThat(failure.reason()).isEqualTo(NixlException.Reason.EXPIRED);
  }

  @Test
  @EnabledIf("isFullTier")
  void readsFromAPeerThatStandsStillEndByTheirTime() throws Exception {
    var offered = metadata(peer.ask("do", "readable", "seed", 5, "sizes", SIZES));
    peer.signal("STOP");
    try {
      var read = connector.beginRead(offered, empty(), Duration.ofSeconds(1));
      var failure = catchThrowableOfType(NixlException.class, () -> read.await(LONG));
      assertThat(failure.reason()).isEqualTo(NixlException.Reason.EXPIRED);
    } finally {
      peer.signal("CONT");
    }
  }

  @Test
  @EnabledIf("isFullTier")
  void offersThatNobodyTakesEndByTheirLease() throws Exception {
    var writable = connector.createWritable(empty(), Duration.ofMillis(50));
    var failure = catchThrowableOfType(NixlException.class, () -> writable.await(LONG));
    assertThat(failure.reason()).isEqualTo(NixlException.Reason.EXPIRED);
    assertThat(writable.status()).isEqualTo(OperationStatus.ERRORED);
  }
}
