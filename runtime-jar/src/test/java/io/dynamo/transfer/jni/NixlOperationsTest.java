package io.dynamo.transfer.jni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.dynamo.error.DeadlineExceededException;
import io.dynamo.transfer.JavaHostMemory;
import io.dynamo.transfer.nixl.Connector;
import io.dynamo.transfer.nixl.Descriptor;
import io.dynamo.transfer.nixl.Device;
import io.dynamo.transfer.nixl.NixlException;
import io.dynamo.transfer.nixl.NixlException.Reason;
import io.dynamo.transfer.nixl.NixlLimits;
import io.dynamo.transfer.nixl.NixlOperation;
import io.dynamo.transfer.nixl.OperationKind;
import io.dynamo.transfer.nixl.OperationStatus;
import io.dynamo.transfer.nixl.RdmaMetadata;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Operations between two connectors, over the library that takes NIXL's place. */
class NixlOperationsTest {
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Map<String, String> ENDLESS = Map.of("polls", "2000000000");

  private Connector owner;

  @BeforeEach
  void open() throws Exception {
    owner = FakeNixl.connector(Map.of(), NixlLimits.STANDARD);
  }

  @AfterEach
  void close() {
    if (owner != null) {
      owner.close();
    }
  }

  private static Connector connector(Map<String, String> parameters) throws Exception {
    return FakeNixl.connector(parameters, NixlLimits.STANDARD);
  }

  private static Descriptor bytes(int... values) {
    var array = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      array[i] = (byte) values[i];
    }
    return Descriptor.copyOf(array);
  }

  private static NixlException failure(NixlOperation operation) {
    return catchThrowableOfType(NixlException.class, () -> operation.await(LONG));
  }

  @Test
  void anOfferIsReadAndWritten() throws Exception {
    var source = List.of(bytes(1, 2, 3), bytes(4));
    var target = List.of(bytes(0, 0, 0), bytes(0));
    try (var other = connector(Map.of("polls", "2"));
        var readable = owner.createReadable(source, LONG);
        var writable = owner.createWritable(target, LONG)) {
      assertThat(readable.status()).isEqualTo(OperationStatus.INITIALIZED);
      var into = List.of(bytes(0, 0, 0), bytes(0));
      try (var read = other.beginRead(readable.metadata(LONG), into, LONG)) {
        read.await(LONG);
        assertThat(read.results()).isEqualTo(into);
        assertThat(into.getFirst().bytes().mismatch(source.getFirst().bytes())).isEqualTo(-1);
        assertThat(read.peer()).isEqualTo(owner.name() + "-1");
        assertThat(read.kind()).isEqualTo(OperationKind.READ);
      }
      try (var write = other.beginWrite(into, writable.metadata(LONG), LONG)) {
        write.await(LONG);
      }
      readable.await(LONG);
      writable.await(LONG);
      assertThat(target.getLast().bytes().mismatch(source.getLast().bytes())).isEqualTo(-1);
      assertThat(readable.status()).isEqualTo(OperationStatus.COMPLETE);
      readable.cancel(); // changes nothing any more
      assertThat(readable.status()).isEqualTo(OperationStatus.COMPLETE);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "post, -2, BACKEND",
    "post, -1, BACKEND",
    "end, -2, BACKEND",
    "end, -6, BACKEND",
    "request, -6, BACKEND",
    "load, -2, PEER_LOST",
    "load, -1, CORRUPT",
    "register, -2, BACKEND"
  })
  void failuresOfTheLibraryReachTheOperation(String step, int code, Reason reason)
      throws Exception {
    try (var other = connector(Map.of(step, String.valueOf(code)));
        var readable = owner.createReadable(List.of(bytes(1)), LONG)) {
      var read = other.beginRead(readable.metadata(LONG), List.of(bytes(0)), LONG);
      assertThat(failure(read).reason()).isEqualTo(reason);
      assertThat(failure(read)).hasMessageContaining(String.valueOf(code));
      assertThat(read.status()).isEqualTo(OperationStatus.ERRORED);
      assertThatIllegalStateException().isThrownBy(read::results);
    }
  }

  @Test
  void aPeerThatIsLostIsNamed() throws Exception {
    try (var other = connector(Map.of("end", "-2", "lost", "1"));
        var readable = owner.createReadable(List.of(bytes(1)), LONG)) {
      var read = other.beginRead(readable.metadata(LONG), List.of(bytes(0)), LONG);
      assertThat(failure(read).reason()).isEqualTo(Reason.PEER_LOST);
      assertThat(failure(read)).hasMessageContaining(owner.name());
    }
  }

  @Test
  void waitsEndByTheirTimeAndTheOperationGoesOn() throws Exception {
    try (var other = connector(ENDLESS);
        var readable = owner.createReadable(List.of(bytes(1)), LONG)) {
      var read = other.beginRead(readable.metadata(LONG), List.of(bytes(0)), LONG);
      assertThatExceptionOfType(DeadlineExceededException.class)
          .isThrownBy(() -> read.await(Duration.ofMillis(1)));
      while (read.status() != OperationStatus.IN_PROGRESS) {
        Thread.onSpinWait();
      }
      read.close();
      assertThat(failure(read).reason()).isEqualTo(Reason.CANCELLED);
      assertThat(read.status()).isEqualTo(OperationStatus.CANCELLED);
    }
  }

  @Test
  void operationsEndByTheirOwnTime() throws Exception {
    try (var other = connector(ENDLESS);
        var readable = owner.createReadable(List.of(bytes(1)), LONG)) {
      var offer = readable.metadata(LONG);
      var read = other.beginRead(offer, List.of(bytes(0)), Duration.ofMillis(5));
      assertThat(failure(read).reason()).isEqualTo(Reason.EXPIRED);
      var unread = owner.createReadable(List.of(bytes(1)), Duration.ofMillis(5));
      assertThat(failure(unread).reason()).isEqualTo(Reason.EXPIRED);
      assertThat(unread.status()).isEqualTo(OperationStatus.ERRORED);
    }
  }

  @Test
  void closingAConnectorEndsItsOperations() throws Exception {
    var other = connector(ENDLESS);
    var readable = owner.createReadable(List.of(bytes(1)), LONG);
    var read = other.beginRead(readable.metadata(LONG), List.of(bytes(0)), LONG);
    other.close();
    assertThat(failure(read).reason()).isEqualTo(Reason.CLOSED);
    owner.close();
    assertThat(failure(readable).reason()).isEqualTo(Reason.CLOSED);
    assertThatExceptionOfType(NixlException.class)
        .isThrownBy(() -> owner.createReadable(List.of(bytes(1)), LONG))
        .matches(closed -> closed.reason() == Reason.CLOSED);
  }

  @Test
  void anAbsentLibraryIsNamedByEveryOperation() {
    var library = new NixlLibrary(Path.of("/nowhere/libnixl_capi.so"), null, List.of());
    try (var connector = new Connector(library)) {
      var readable = connector.createReadable(List.of(bytes(1)), LONG);
      assertThat(failure(readable).reason()).isEqualTo(Reason.ABSENT);
      assertThat(failure(readable))
          .hasMessageContaining("/nowhere/libnixl_capi.so")
          .hasMessageContaining("dynamo.transfer.nixl.library");
      assertThatExceptionOfType(NixlException.class).isThrownBy(() -> readable.metadata(LONG));
    }
    assertThat(library.probe()).contains("\"present\":false", "/nowhere/libnixl_capi.so");
  }

  @Test
  void offersThatDoNotFitAreRefusedAtOnce() throws Exception {
    try (var other = connector(Map.of());
        var readable = owner.createReadable(List.of(bytes(1, 2)), LONG)) {
      var offer = readable.metadata(LONG);
      var descriptors = offer.descriptors();
      for (Runnable wrong :
          List.<Runnable>of(
              () -> other.beginWrite(List.of(bytes(1, 2)), offer, LONG),
              () -> other.beginRead(offer, List.of(bytes(1)), LONG),
              () -> other.beginRead(offer, List.of(bytes(1, 2), bytes(3)), LONG),
              () -> other.beginRead(offer, List.of(), LONG),
              () -> owner.beginRead(offer, List.of(bytes(1, 2)), LONG),
              () ->
                  other.beginRead(
                      new RdmaMetadata(descriptors, "b64:AAAA", "key", OperationKind.READ),
                      List.of(bytes(1, 2)),
                      LONG),
              () ->
                  other.beginRead(
                      new RdmaMetadata(descriptors, offer.nixlMetadata(), "", OperationKind.READ),
                      List.of(bytes(1, 2)),
                      LONG))) {
        assertThatIllegalArgumentException().isThrownBy(wrong::run);
      }
    }
  }

  @Test
  void memoryThatCannotBeRegisteredIsRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Descriptor.of(ByteBuffer.allocate(8)))
        .withMessageContaining("copyOf");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Descriptor.of(MemorySegment.ofArray(new byte[8])));
    assertThatIllegalArgumentException().isThrownBy(() -> Descriptor.copyOf(new byte[0]));
    assertThatIllegalArgumentException().isThrownBy(() -> Descriptor.of(0, 8, Device.HOST, null));
    assertThatIllegalArgumentException().isThrownBy(() -> Descriptor.of(-4, 8, Device.HOST, null));
    try (var confined = Arena.ofConfined()) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> Descriptor.of(confined.allocate(8)))
          .withMessageContaining("one thread");
    }
    var closed = Arena.ofShared();
    var freed = closed.allocate(8);
    closed.close();
    assertThatIllegalStateException().isThrownBy(() -> Descriptor.of(freed));
    var constant = Descriptor.of(ByteBuffer.allocateDirect(8).asReadOnlyBuffer());
    assertThatIllegalArgumentException()
        .isThrownBy(() -> owner.createWritable(List.of(constant), LONG));
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                owner.createReadable(
                    List.of(
                        bytes(1),
                        Descriptor.of(64, 8, new Device(Device.of("cuda").kind(), 0), null)),
                    LONG));
  }

  @Test
  void regionsKeepTheirBytesWhileTheyAreOnOffer() throws Exception {
    try (var other = connector(Map.of());
        var memory = new JavaHostMemory()) {
      var region = memory.allocate(8);
      region.write(0, ByteBuffer.wrap(new byte[] {1, 2, 3, 4, 5, 6, 7, 8}));
      var readable = owner.createReadable(List.of(Descriptor.of(region)), LONG);
      region.close();
      var into = Descriptor.copyOf(new byte[8]);
      other.beginRead(readable.metadata(LONG), List.of(into), LONG).await(LONG);
      assertThat(into.bytes().asByteBuffer().get(7)).isEqualTo((byte) 8);
    }
  }

  @Test
  void registrationIsOfOneConnectorAndOutlivesOperations() throws Exception {
    try (var other = connector(Map.of());
        var pool = Descriptor.copyOf(new byte[100])) {
      pool.register(owner);
      pool.register(owner);
      assertThatIllegalStateException().isThrownBy(() -> pool.register(other));
      assertThatIllegalStateException().isThrownBy(() -> other.createReadable(List.of(pool), LONG));
      for (int i = 0; i < 3; i++) {
        var part = Descriptor.of(pool.bytes().asSlice(10L * i, 10));
        try (var readable = owner.createReadable(List.of(part), LONG)) {
          readable.metadata(LONG);
        }
      }
      assertThat(pool.isRegistered()).isTrue();
    }
  }

  @Test
  void memoryOfFailedOperationsIsBounded() throws Exception {
    var limits = new NixlLimits(4, 1000, 20);
    try (var small = FakeNixl.connector(Map.of(), limits)) {
      assertThatExceptionOfType(NixlException.class)
          .isThrownBy(() -> small.createReadable(List.of(Descriptor.copyOf(new byte[1001])), LONG))
          .matches(busy -> busy.reason() == Reason.BUSY);
      assertThatExceptionOfType(NixlException.class)
          .isThrownBy(
              () ->
                  small.createReadable(
                      List.of(bytes(1), bytes(2), bytes(3), bytes(4), bytes(5)), LONG))
          .matches(busy -> busy.reason() == Reason.BUSY);
    }
    try (var small = FakeNixl.connector(Map.of(), limits)) {
      var first = small.createReadable(List.of(Descriptor.copyOf(new byte[30])), LONG);
      first.metadata(LONG);
      first.cancel();
      assertThat(failure(first).reason()).isEqualTo(Reason.CANCELLED);
      assertThatExceptionOfType(NixlException.class)
          .isThrownBy(() -> small.createReadable(List.of(bytes(1)), LONG))
          .withMessageContaining("30 bytes of failed operations are kept");
    }
  }
}
